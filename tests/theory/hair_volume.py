"""Checks of docs/theory/hair_volume.md (section I: hair as an incompressible volume)."""
from checking import check, run
import numpy as np


def mac_setup(n, seed):
    """n^3 cells, h=1; hair cells = blob, rest air; returns face velocities, face densities, hair mask, cell density."""
    rng = np.random.default_rng(seed)
    g = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1) + 0.5 - n / 2
    hair = np.linalg.norm(g, axis=-1) < n / 2 - 1.2
    rho = np.where(hair, rng.uniform(0.6, 1.6, size=(n, n, n)), 0.0)
    u = [rng.normal(size=[n + (a == b) for b in range(3)]) for a in range(3)]
    fr = []
    for a in range(3):  # face density: mean of the two cells, floored
        pad = np.pad(rho, [(1, 1) if b == a else (0, 0) for b in range(3)])
        s = [slice(None)] * 3
        t = [slice(None)] * 3
        s[a] = slice(0, -1)
        t[a] = slice(1, None)
        fr.append(np.maximum(0.5 * (pad[tuple(s)] + pad[tuple(t)]), 0.1))
    return u, fr, hair, rho


def mac_div(u):
    return sum(np.diff(u[a], axis=a) for a in range(3))


def mac_operator(fr, hair):
    """SPD matrix A (hair cells): (A p)_c = sum_faces (p_c - p_nb)/rho_f, p = 0 in air."""
    idx = -np.ones(hair.shape, int)
    idx[hair] = np.arange(hair.sum())
    A = np.zeros((hair.sum(),) * 2)
    for c in np.argwhere(hair):
        i = idx[tuple(c)]
        for a in range(3):
            for sgn in (0, 1):
                f = c.copy()
                f[a] += sgn
                nb = c.copy()
                nb[a] += 2 * sgn - 1
                k = 1 / fr[a][tuple(f)]
                A[i, i] += k
                if (nb >= 0).all() and (nb < hair.shape[0]).all() and hair[tuple(nb)]:
                    A[i, idx[tuple(nb)]] -= k
    return A


def mac_apply(u, fr, hair, p):
    P = np.zeros(hair.shape)
    P[hair] = p
    out = []
    for a in range(3):
        pad = np.pad(P, [(1, 1) if b == a else (0, 0) for b in range(3)])
        out.append(u[a] - np.diff(pad, axis=a) / fr[a])
    return out


def check_I():
    n = 9
    u, fr, hair, rho = mac_setup(n, 12)
    A = mac_operator(fr, hair)
    rt, dt = 1.0, 0.1
    tgt = np.where(rho > rt, np.minimum((rho - rt) / (rt * dt) * 0.5, 1 / dt), 0.0)[hair]
    div0 = mac_div(u)[hair]
    check("I.operator symmetric positive definite", np.abs(A - A.T).max() < 1e-12 and np.linalg.eigvalsh(A)[0] > 0)
    p = np.linalg.solve(A, tgt - div0)  # A p = -(div u - target), u_new = u - grad p / rho
    u1 = mac_apply(u, fr, hair, p)
    check(
        "I.bilateral projection: div(u_new) = target in every hair cell", np.abs(mac_div(u1)[hair] - tgt).max() < 1e-10
    )
    mom = [np.sum(fr[a] * (u1[a] - u[a])) for a in range(3)]
    check("I.projection conserves momentum (free-floating hair)", np.abs(mom).max() < 1e-10)
    lo = np.where(rho > rt, 0.5 * (rho - rt) / (rt * dt), (rho - rt) / (np.maximum(rho, 0.1) * dt))[
        hair
    ]  # allowed divergence from below
    b = lo - div0  # LCP: p >= 0, A p - b >= 0, complementary
    q = np.zeros(len(b))
    for _ in range(4000):  # projected Gauss-Seidel
        old = q.copy()
        for i in range(len(b)):
            q[i] = max(0.0, q[i] + (b[i] - A[i] @ q) / A[i, i])
        if np.abs(q - old).max() < 1e-11:
            break
    d1 = mac_div(mac_apply(u, fr, hair, q))[hair]
    check(
        "I.separating projection: p >= 0, div >= bound, complementary",
        q.min() >= 0 and (d1 - lo).min() > -1e-8 and np.abs(q * (d1 - lo)).max() < 1e-7,
        f"{np.sum(q > 0)} of {len(q)} cells under pressure",
    )
    ke = lambda u: sum(0.5 * np.sum(fr[a] * u[a] ** 2) for a in range(3))
    p0 = np.linalg.solve(A, -div0)
    check(
        "I.projection with zero target never adds kinetic energy (bilateral and separating)",
        ke(mac_apply(u, fr, hair, p0)) <= ke(u) and ke(mac_apply(u, fr, hair, pgs0(A, -div0))) <= ke(u),
    )
    check("I.bilateral projection is cohesive: it pulls (p < 0) where hair separates", (p0 < 0).any())


def pgs0(A, b):
    q = np.zeros(len(b))
    for _ in range(600):
        for i in range(len(b)):
            q[i] = max(0.0, q[i] + (b[i] - A[i] @ q) / A[i, i])
    return q


if __name__ == "__main__":
    run([check_I])
