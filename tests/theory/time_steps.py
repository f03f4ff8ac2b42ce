"""Checks of docs/theory/time_steps.md (section J: time steps)."""
from checking import RNG, check, close, run, section
import numpy as np
from transfers import N1, N2, N3, dN1, dN2, dN3, stencil
from materials import FCR, Hencky, fluid_p
from solids import Fem, box_mesh


def dense_K(apply, shape):
    n = int(np.prod(shape))
    return np.stack([apply(e.reshape(shape)).ravel() for e in np.eye(n)], 1)


def wmax(K, m):
    s = 1 / np.sqrt(np.repeat(m, 3))
    return np.sqrt(max(np.linalg.eigvalsh((s[:, None] * K * s[None]))[-1], 0))


def mpm_dtcrit(ppc_side, jitter, deg, nu=0.3):
    """largest stable symplectic step (units dx/c) of a 2D block of linear-elastic MPM particles, rest state."""
    mu, lam = 1 / (2 * (1 + nu)), nu / ((1 + nu) * (1 - 2 * nu))
    c = np.sqrt(lam + 2 * mu)
    n = 4 * ppc_side
    P = (
        np.array([[i + 0.5, j + 0.5] for i in range(n) for j in range(n)]) + jitter * RNG.uniform(-0.5, 0.5, (n * n, 2))
    ) / ppc_side + 10.3
    V = 1.0 / ppc_side**2
    idx, rows = {}, []
    for x in P:
        rows.append([(idx.setdefault(i, len(idx)), w, g) for i, _, w, g in stencil(x, 1.0, deg)])
    N = len(idx)
    K, m = np.zeros((2 * N, 2 * N)), np.zeros(N)
    for r in rows:
        for a, w, g in r:
            m[a] += V * w
            for b, _, h in r:
                K[2 * a : 2 * a + 2, 2 * b : 2 * b + 2] += V * (
                    mu * (g @ h) * np.eye(2) + mu * np.outer(h, g) + lam * np.outer(g, h)
                )
    keep = m > 1e-10
    kk = np.repeat(keep, 2)
    s = 1 / np.sqrt(np.repeat(m[keep], 2))
    w = np.sqrt(np.linalg.eigvalsh(s[:, None] * K[np.ix_(kk, kk)] * s[None])[-1])
    return 2 / w * c


def section_J():
    section("J. time step")
    mu, lam, rho = 4e4, 6e4, 1000.0
    c = np.sqrt((lam + 2 * mu) / rho)
    X, T = box_mesh((2, 2, 2))
    X = X + 0.06 * RNG.normal(size=X.shape)
    fem = Fem(X, T, rho, FCR(mu, lam))
    K = -dense_K(lambda d: fem.dforce(X, d, False), X.shape)
    w = wmax(K, fem.m)
    dtc = 2 / w
    alt, we = 1e9, 0
    for t, v in zip(T, fem.V):
        for a in range(4):
            o = [t[b] for b in range(4) if b != a]
            A = 0.5 * np.linalg.norm(np.cross(X[o[1]] - X[o[0]], X[o[2]] - X[o[0]]))
            alt = min(alt, 3 * v / A)
        Xe = X[t]
        fe = Fem(Xe, np.array([[0, 1, 2, 3]]), rho, FCR(mu, lam))
        we = max(we, wmax(-dense_K(lambda d: fe.dforce(Xe, d, False), Xe.shape), fe.m))
    check("J element bound w_max(mesh) <= max_e w_max(element)", w <= we * (1 + 1e-9), f"{w:.1f} <= {we:.1f}")
    r = dtc / (alt / c)
    check(
        "J dt = 0.5 h_alt/c_p is stable for this tet mesh",
        r > 0.5,
        f"dt_crit = {r:.2f} h_alt/c_p, element bound {2 / we * c / alt:.2f}",
    )
    for fac, stable in ((0.98, True), (1.02, False)):
        u, v = np.zeros_like(X), 1e-8 * RNG.normal(size=X.shape)
        for _ in range(400):
            v = v - fac * dtc * (K @ u.ravel()).reshape(u.shape) / fem.m[:, None]
            u = u + fac * dtc * v
        big = np.abs(u).max() * w / 1e-8
        check(
            f"J symplectic Euler {'stable' if stable else 'unstable'} at {fac} * 2/w_max",
            (big < 1e3) == stable,
            f"growth {big:.1e}",
        )
    for deg in (2, 3):
        out = [mpm_dtcrit(2, j, deg) for j in (0.0, 0.5, 0.9)]
        check(
            f"J MPM degree {deg}: dt = 0.4 dx/c stable for a 2x2-per-cell block",
            min(out) > 0.4,
            "dt_crit c/dx = " + " ".join(f"{o:.2f}" for o in out),
        )
    J = 0.9
    K0, g, r0 = 5.0, 7.0, 2.0
    h = 1e-6
    p = lambda r: fluid_p(r0 / r, K0, g)
    close(
        "J fluid sound speed c^2 = dp/drho = K J^(1-gam)/rho0",
        (p(r0 / J + h) - p(r0 / J - h)) / (2 * h),
        K0 * J ** (1 - g) / r0,
        1e-6,
    )
    s = np.array([0.7, 1.2, 0.9])
    M = Hencky(1.3, 2.1)
    A, pp, q = M.spectral(s)
    cc = max(A[i, i] * s[i] ** 2 for i in range(3))
    close(
        "J Hencky longitudinal modulus s_i^2 A_ii = 2mu+lam-tau_i",
        cc,
        max(2 * 1.3 + 2.1 - (2 * 1.3 * np.log(s) + 2.1 * np.log(s).sum())),
        1e-10,
    )


def section_J2():
    section("J2. rigorous MPM step bound")
    u = np.linspace(-0.4999, 0.4999, 2001)
    s2 = max(sum(dN2(t - k) ** 2 / N2(t - k) for k in (-1, 0, 1)) for t in u)
    s3 = max(sum(dN3(t - k) ** 2 / N3(t - k) for k in (-1, 0, 1, 2)) for t in np.linspace(1e-4, 1 - 1e-4, 2001))
    close("J2 sup sum N'^2/N quadratic = 6", s2, 6.0, 1e-3)
    check("J2 sup sum N'^2/N cubic <= 3.2", s3 <= 3.2, f"{s3:.3f}")
    lin = [sum(dN1(f - k) ** 2 / N1(f - k) for k in (0, 1)) for f in (1e-1, 1e-2, 1e-3, 1e-4)]
    check(
        "J2 linear kernel: sum N'^2/N grows like 1/f towards a node (no bound)",
        all(8 < b / a < 12 for a, b in zip(lin, lin[1:])),
        " ".join(f"{t:.0f}" for t in lin),
    )
    nu = 0.3
    mu, lam = 1 / (2 * (1 + nu)), nu / ((1 + nu) * (1 - 2 * nu))
    c = np.sqrt(lam + 2 * mu)
    for deg, S in ((2, 6.0), (3, 3.2)):
        bound = 2 / np.sqrt(S * (2 * lam + 2 * mu)) * c
        got = min(mpm_dtcrit(k, j, deg) for k in (1, 2) for j in (0.0, 0.9))
        check(
            f"J2 degree {deg}: dt_crit >= 2 dx/sqrt(S (d lam+2mu)/rho)",
            got >= bound * (1 - 1e-6),
            f"{got:.2f} >= {bound:.2f} (dx/c)",
        )
    worst = 1e9
    for _ in range(50):  # MLS-MPM single particle, 2D
        x = RNG.uniform(0, 1, 2)
        st = stencil(x, 1.0, 2)
        B = []
        for _, xi, w, _ in st:
            B.append(4 * np.sqrt(w) * (xi - x))  # mass-scaled
        B = np.array(B)
        n = len(B)
        K = np.zeros((2 * n, 2 * n))
        for a in range(n):
            for b in range(n):
                K[2 * a : 2 * a + 2, 2 * b : 2 * b + 2] = (
                    mu * (B[a] @ B[b]) * np.eye(2) + mu * np.outer(B[b], B[a]) + lam * np.outer(B[a], B[b])
                )
        worst = min(worst, 2 / np.sqrt(np.linalg.eigvalsh(K)[-1]))
    close(
        "J2 MLS-MPM quadratic single particle: dt_crit = dx/sqrt((d lam+2mu)/rho)",
        worst,
        1 / np.sqrt(2 * lam + 2 * mu),
        1e-9,
    )


if __name__ == "__main__":
    run([section_J, section_J2])
