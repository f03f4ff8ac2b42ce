"""What the checks of docs/theory share: one line for each check, a nonzero exit code where one fails, small tools.

Exits with 77, which ctest takes as skipped, where there is no NumPy.
"""
import sys

try:
    import numpy as np
except ImportError:
    print("no NumPy (Debian package python3-numpy)")
    sys.exit(77)

RNG = np.random.default_rng()
FAILED = []
COUNT = [0]


def check(name, ok, detail=""):
    COUNT[0] += 1
    ok = bool(ok)
    if not ok:
        FAILED.append(name)
    print(("PASS  " if ok else "FAIL  ") + name + (f"   [{detail}]" if detail != "" else ""))


def close(name, a, b, tol=1e-9, scale=None):
    a, b = np.asarray(a, float), np.asarray(b, float)
    s = scale if scale is not None else max(1.0, np.abs(a).max(initial=0), np.abs(b).max(initial=0))
    err = np.abs(a - b).max(initial=0) / s
    check(name, err <= tol, f"rel err {err:.2e} <= {tol:.0e}")


def doc(name, is_wrong, detail=""):
    """The formula as printed must be seen to be wrong."""
    check("DOC " + name, is_wrong, detail)


def section(title):
    """Each section draws the same random numbers, whatever is run before it."""
    RNG.bit_generator.state = np.random.default_rng(20190701).bit_generator.state
    print(f"\n== {title}")


def run(fast, slow=()):
    """The checks of a page: the fast ones, or the slow ones with --slow."""
    arguments = sys.argv[1:]
    if arguments not in ([], ["--slow"]):
        sys.exit(f"usage: {sys.argv[0]} [--slow]")
    for checks in slow if arguments else fast:
        checks()
    if COUNT[0] == 0:
        sys.exit("nothing was checked")
    print(f"\n{COUNT[0] - len(FAILED)}/{COUNT[0]} passed")
    for name in FAILED:
        print("FAILED:", name)
    sys.exit(1 if FAILED else 0)


def fd(f, x, h=1e-6):
    """Central difference of scalar f wrt array x."""
    x = np.array(x, float)
    g = np.zeros_like(x)
    for k in np.ndindex(*x.shape):
        e = np.zeros_like(x)
        e[k] = h
        g[k] = (f(x + e) - f(x - e)) / (2 * h)
    return g


def fdir(f, x, d, h=1e-6):
    """Central directional difference of array f."""
    return (f(x + h * d) - f(x - h * d)) / (2 * h)


def rand_rot(d=3):
    Q, R = np.linalg.qr(RNG.normal(size=(d, d)))
    Q = Q * np.sign(np.diag(R))
    if np.linalg.det(Q) < 0:
        Q[:, 0] *= -1
    return Q


def cross(a, b):
    return np.cross(a, b)


def relerr(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.linalg.norm(a - b) / max(1e-300, np.linalg.norm(b), np.linalg.norm(a))


def fd_grad(f, x, h=1e-6):
    x = np.array(x, float)
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        old = x[i]
        x[i] = old + h
        fp = f(x)
        x[i] = old - h
        fm = f(x)
        x[i] = old
        g[i] = (fp - fm) / (2 * h)
    return g


def fd_jac(f, x, h=1e-6):
    """Jacobian of vector function f at flat x, central differences."""
    x = np.array(x, float)
    cols = []
    for i in range(x.size):
        xp = x.copy()
        xp[i] += h
        xm = x.copy()
        xm[i] -= h
        cols.append((np.asarray(f(xp)) - np.asarray(f(xm))) / (2 * h))
    return np.array(cols).T


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0.0]])


def expm_so3(w):
    """Rodrigues formula."""
    a = np.linalg.norm(w)
    K = skew(w)
    if a < 1e-8:
        return np.eye(3) + K + 0.5 * K @ K
    return np.eye(3) + np.sin(a) / a * K + (1 - np.cos(a)) / a**2 * K @ K
