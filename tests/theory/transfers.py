"""Checks of docs/theory/transfers.md (section A: kernels and transfers)."""
import itertools
from checking import RNG, check, close, cross, doc, fd, run, section
import numpy as np


def N1(x):
    a = abs(x)
    return max(0.0, 1 - a)


def dN1(x):
    return 0.0 if abs(x) >= 1 else -np.sign(x)


def N2(x):
    a = abs(x)
    return 0.75 - a * a if a < 0.5 else (0.5 * (1.5 - a) ** 2 if a < 1.5 else 0.0)


def dN2(x):
    a = abs(x)
    return -2 * x if a < 0.5 else (np.sign(x) * (a - 1.5) if a < 1.5 else 0.0)


def N3(x):
    a = abs(x)
    return 0.5 * a**3 - a * a + 2 / 3 if a < 1 else ((2 - a) ** 3 / 6 if a < 2 else 0.0)


def dN3(x):
    a = abs(x)
    return (1.5 * a * a - 2 * a) * np.sign(x) if a < 1 else (-0.5 * np.sign(x) * (2 - a) ** 2 if a < 2 else 0.0)


KER = {1: (N1, dN1, 2), 2: (N2, dN2, 3), 3: (N3, dN3, 4)}


def stencil(x, h, deg):
    """base node, list of (node index tuple, node pos, w, grad w)."""
    N, dN, n = KER[deg]
    x = np.asarray(x, float)
    d = len(x)
    off = {1: 0.0, 2: 0.5, 3: 1.0}[deg]
    base = np.floor(x / h - off).astype(int)
    out = []
    for o in itertools.product(range(n), repeat=d):
        idx = tuple(base + np.array(o))
        xi = np.array(idx) * h
        u = (x - xi) / h
        ws = np.array([N(t) for t in u])
        ds = np.array([dN(t) for t in u]) / h
        w = ws.prod()
        g = np.array([ds[a] * np.prod(np.delete(ws, a)) for a in range(d)])
        out.append((idx, xi, w, g))
    return out


def affine_Dinv(x, h, deg):
    if deg == 2:
        return 4 / h**2 * np.eye(len(x))
    if deg == 3:
        return 3 / h**2 * np.eye(len(x))
    D = sum(w * np.outer(xi - x, xi - x) for _, xi, w, _ in stencil(x, h, deg))
    return np.linalg.inv(D)


def p2g(X, V, m, h, deg, C=None):
    """APIC/PIC scatter; returns dict node -> [mass, momentum]."""
    G = {}
    for p in range(len(X)):
        for idx, xi, w, _ in stencil(X[p], h, deg):
            v = V[p] + (C[p] @ (xi - X[p]) if C is not None else 0)
            e = G.setdefault(idx, [0.0, np.zeros(X.shape[1])])
            e[0] += w * m[p]
            e[1] = e[1] + w * m[p] * v
    return G


def g2p(X, gv, h, deg):
    """returns v_p, B_p, C_p = B_p D_p^-1."""
    V, B, C = [], [], []
    for x in X:
        st = stencil(x, h, deg)
        V.append(sum(w * gv[i] for i, _, w, _ in st))
        B.append(sum(w * np.outer(gv[i], xi - x) for i, xi, w, _ in st))
        C.append(B[-1] @ affine_Dinv(x, h, deg))
    return np.array(V), np.array(B), np.array(C)


def eps_contract(B):
    """(B^T):eps in 3D = sum_a e_a x (B e_a)."""
    return np.array([B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]])


def section_A():
    section("A. kernels and transfers")
    h = 0.37
    for deg in (1, 2, 3):
        worst = np.zeros(5)
        for _ in range(40):
            x = RNG.uniform(-3, 3, 3)
            st = stencil(x, h, deg)
            W = sum(s[2] for s in st)
            XW = sum(s[1] * s[2] for s in st)
            G = sum(s[3] for s in st)
            XG = sum(np.outer(s[1], s[3]) for s in st)
            k = RNG.integers(len(st))
            xi, g = st[k][1], st[k][3]
            Nf = KER[deg][0]
            gfd = fd(lambda y: np.prod([Nf(t) for t in (y - xi) / h]), x)
            worst = np.maximum(
                worst,
                [
                    abs(W - 1),
                    np.abs(XW - x).max(),
                    np.abs(G).max(),
                    np.abs(XG - np.eye(3)).max(),
                    np.abs(gfd - g).max() * (0 if min(abs((x - xi) / h % 1)) < 1e-4 else 1),
                ],
            )
        for nm, e in zip(("sum w=1", "sum w x_i=x_p", "sum grad w=0", "sum x_i grad w^T=I", "grad w vs FD"), worst):
            check(f"A deg{deg} {nm}", e < 2e-7, f"{e:.1e}")
    for deg, val in ((2, h * h / 4), (3, h * h / 3)):
        x = RNG.uniform(-1, 1, 3)
        D = sum(w * np.outer(xi - x, xi - x) for _, xi, w, _ in stencil(x, h, deg))
        close(f"A D_p deg{deg}", D, val * np.eye(3), 1e-12)
        close(f"A 002 factor (6-b)/h^2 deg{deg}", (6 - deg) / h**2, 1 / val)
    x = RNG.uniform(-1, 1, 3)
    gv = {s[0]: RNG.normal(size=3) for s in stencil(x, h, 1)}
    _, B, C = g2p(np.array([x]), gv, h, 1)
    close(
        "A linear kernel: B D^-1 == sum v_i grad w^T",
        C[0],
        sum(np.outer(gv[i], g) for i, _, _, g in stencil(x, h, 1)),
        1e-9,
    )
    # conservation
    n, dt = 25, 0.05
    X = RNG.uniform(0, 1.5, (n, 3))
    V = RNG.normal(size=(n, 3))
    m = RNG.uniform(0.5, 2, n)
    for deg in (1, 2, 3):
        Dp = [np.linalg.inv(affine_Dinv(x, h, deg)) for x in X]
        Cp = RNG.normal(size=(n, 3, 3))
        Bp = np.array([Cp[p] @ Dp[p] for p in range(n)])
        G = p2g(X, V, m, h, deg, Cp)
        close(f"A APIC deg{deg} mass P2G", sum(e[0] for e in G.values()), m.sum())
        close(f"A APIC deg{deg} lin. mom. P2G", sum(e[1] for e in G.values()), m @ V)
        L0 = (np.cross(X, V) * m[:, None]).sum(0) + sum(m[p] * eps_contract(Bp[p]) for p in range(n))
        LG = sum(cross(np.array(i) * h, e[1]) for i, e in G.items())
        close(f"A APIC deg{deg} ang. mom. P2G", LG, L0)
        gv = {i: e[1] / e[0] + 0.3 * RNG.normal(size=3) for i, e in G.items() if e[0] > 1e-300}
        gv.update({i: np.zeros(3) for i, e in G.items() if i not in gv})
        PG = sum(G[i][0] * gv[i] for i in G)
        LG = sum(cross(np.array(i) * h, G[i][0] * gv[i]) for i in G)
        V1, B1, C1 = g2p(X, gv, h, deg)
        X1 = X + dt * V1
        close(f"A APIC deg{deg} lin. mom. G2P", m @ V1, PG)
        L1 = (np.cross(X1, V1) * m[:, None]).sum(0) + sum(m[p] * eps_contract(B1[p]) for p in range(n))
        close(f"A APIC deg{deg} ang. mom. G2P (x_p moved with v_p^{{n+1}})", L1, LG)
        Lpic = (np.cross(X1, V1) * m[:, None]).sum(0)
        check(f"A PIC deg{deg} loses ang. mom. in G2P", np.abs(Lpic - LG).max() > 1e-3)
        nu = 0.6
        Cd = np.array([0.5 * (c - c.T) + (1 - nu) * 0.5 * (c + c.T) for c in C1])
        Ld = (np.cross(X1, V1) * m[:, None]).sum(0) + sum(m[p] * eps_contract(Cd[p] @ Dp[p]) for p in range(n))
        if deg > 1:
            close(f"A RPIC damping 002(2) deg{deg} keeps ang. mom.", Ld, LG)
        else:
            doc("A 002(2) on C with LINEAR kernel breaks ang. mom. (damp B instead)", np.abs(Ld - LG).max() > 1e-4)
            Bd = np.array([0.5 * (b - b.T) + (1 - nu) * 0.5 * (b + b.T) for b in B1])
            Ld = (np.cross(X1, V1) * m[:, None]).sum(0) + sum(m[p] * eps_contract(Bd[p]) for p in range(n))
            close("A RPIC damping applied to B, linear kernel, keeps ang. mom.", Ld, LG)
        # FLIP keeps linear momentum of the grid change
        gv0 = {i: G[i][1] / G[i][0] if G[i][0] > 1e-300 else np.zeros(3) for i in G}
        dv = {i: gv[i] - gv0[i] for i in G}
        Vf = V + g2p(X, dv, h, deg)[0]
        close(f"A FLIP deg{deg} momentum change == grid momentum change", m @ (Vf - V), sum(G[i][0] * dv[i] for i in G))
    # affine reproduction
    A, b = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    G = p2g(X, X @ A.T + b, m, h, 2, np.array([A] * n))
    gv = {i: e[1] / e[0] for i, e in G.items() if e[0] > 0}
    close(
        "A APIC P2G reproduces affine field on grid", [gv[i] for i in gv], [A @ (np.array(i) * h) + b for i in gv], 1e-8
    )
    V1, _, C1 = g2p(X, {i: A @ (np.array(i) * h) + b for i in G}, h, 2)
    close(
        "A APIC G2P reproduces affine field (v and C)",
        np.c_[V1, C1.reshape(n, 9)],
        np.c_[X @ A.T + b, np.tile(A.ravel(), (n, 1))],
        1e-9,
    )


def poly_modes(xp, xi, h):
    """PolyPIC tensor modes for the quadratic kernel; returns 3^d values s_r(x_i-x_p)."""
    xi_ = xi - xp
    node = np.round(xp / h) * h  # nearest node per axis
    dlt = xp - node
    one = []
    for a in range(len(xp)):
        z, d = xi_[a], dlt[a]
        one.append((1.0, z, z * z - d * (h * h - 4 * d * d) / h**2 * z - h * h / 4))
    return np.array(
        [np.prod([one[a][r[a]] for a in range(len(xp))]) for r in itertools.product(range(3), repeat=len(xp))]
    )


def poly_norms(xp, h):
    """<s_r^2> weighted by w_ip, closed form (tensor product of 1D norms)."""
    u = xp / h - np.round(xp / h)
    one = [(1.0, h * h / 4, h**4 * (1 - 4 * t * t) ** 2 * (3 - 4 * t * t) / 16) for t in u]
    return np.array(
        [np.prod([one[a][r[a]] for a in range(len(xp))]) for r in itertools.product(range(3), repeat=len(xp))]
    )


def section_A2():
    section("A2. PolyPIC, MLS-MPM")
    h = 0.37
    for d in (2, 3):
        x = RNG.uniform(-1, 1, d)
        st = stencil(x, h, 2)
        S = np.array([poly_modes(x, xi, h) for _, xi, _, _ in st])
        w = np.array([s[2] for s in st])
        close(
            f"A2 PolyPIC {d}D modes orthogonal, norms closed form",
            S.T @ (w[:, None] * S),
            np.diag(poly_norms(x, h)),
            1e-10,
        )
        n = 12
        X = RNG.uniform(0, 1.2, (n, d))
        m = RNG.uniform(0.5, 2, n)
        c = RNG.normal(size=(n, 3**d, d))
        G = {}
        for p in range(n):
            for idx, xi, w, _ in stencil(X[p], h, 2):
                e = G.setdefault(idx, [0.0, np.zeros(d)])
                e[0] += w * m[p]
                e[1] = e[1] + w * m[p] * (poly_modes(X[p], xi, h) @ c[p])
        r0 = 0
        rl = [
            [
                r
                for r, t in enumerate(itertools.product(range(3), repeat=d))
                if t == tuple(int(a == b) for b in range(d))
            ][0]
            for a in range(d)
        ]
        close(f"A2 PolyPIC {d}D P2G lin. mom.", sum(e[1] for e in G.values()), m @ c[:, r0])

        def ang(a, b):
            return a[0] * b[1] - a[1] * b[0] if d == 2 else np.cross(a, b)

        def Lpart(Xx, cc):
            L = 0
            for p in range(n):
                L = L + m[p] * ang(Xx[p], cc[p, r0])
                for a in range(d):
                    e = np.zeros(d)
                    e[a] = 1
                    L = L + m[p] * h * h / 4 * ang(e, cc[p, rl[a]])
            return L

        close(f"A2 PolyPIC {d}D P2G ang. mom.", sum(ang(np.array(i) * h, e[1]) for i, e in G.items()), Lpart(X, c))
        gv = {i: e[1] / e[0] + RNG.normal(size=d) for i, e in G.items()}
        c1 = np.zeros_like(c)
        for p in range(n):
            for idx, xi, w, _ in stencil(X[p], h, 2):
                c1[p] += w * np.outer(poly_modes(X[p], xi, h), gv[idx])
            c1[p] /= np.maximum(poly_norms(X[p], h), 1e-300)[:, None]
        close(f"A2 PolyPIC {d}D G2P lin. mom.", m @ c1[:, r0], sum(G[i][0] * gv[i] for i in G), 1e-8)
        X1 = X + 0.01 * c1[:, r0]
        close(
            f"A2 PolyPIC {d}D G2P ang. mom.", Lpart(X1, c1), sum(ang(np.array(i) * h, G[i][0] * gv[i]) for i in G), 1e-8
        )
        KEg = sum(0.5 * G[i][0] * gv[i] @ gv[i] for i in G)
        KEp = sum(0.5 * m[p] * (poly_norms(X[p], h)[:, None] * c1[p] ** 2).sum() for p in range(n))
        close(f"A2 PolyPIC {d}D full basis G2P keeps kinetic energy", KEp, KEg, 1e-8)
        gp = {i: 0.0 for i in gv}
        for idx, xi, w, _ in stencil(X[0], h, 2):
            gp[idx] = poly_modes(X[0], xi, h) @ c1[0]
        close(
            f"A2 PolyPIC {d}D single particle lossless",
            [gp[s[0]] for s in stencil(X[0], h, 2)],
            [gv[s[0]] for s in stencil(X[0], h, 2)],
            1e-7,
        )
        c0 = c.copy()
        c0[:, [r for r in range(3**d) if r not in [r0] + rl]] = 0
        Ga = p2g(X, c0[:, r0], m, h, 2, np.array([np.stack([c0[p, rl[a]] for a in range(d)], 1) for p in range(n)]))
        Gb = {}
        for p in range(n):
            for idx, xi, w, _ in stencil(X[p], h, 2):
                Gb[idx] = Gb.get(idx, 0) + w * m[p] * (poly_modes(X[p], xi, h) @ c0[p])
        close(f"A2 PolyPIC {d}D with only modes 1,x,y(,z) == APIC", [Gb[i] for i in Ga], [Ga[i][1] for i in Ga])
    # MLS-MPM force
    x = RNG.uniform(-1, 1, 3)
    tau = RNG.normal(size=(3, 3))
    tau = tau + tau.T
    st = stencil(x, h, 2)
    f = [-w * 4 / h**2 * tau @ (xi - x) for _, xi, w, _ in st]
    close("A2 MLS-MPM forces sum to zero", sum(f), np.zeros(3))
    close("A2 MLS-MPM torques sum to zero", sum(cross(s[1], k) for s, k in zip(st, f)), np.zeros(3))
    fc = [-tau @ g for _, _, _, g in st]
    close("A2 classical MPM torques sum to zero", sum(cross(s[1], k) for s, k in zip(st, fc)), np.zeros(3))
    A = RNG.normal(size=(3, 3))
    close(
        "A2 both have the same power on an affine field",
        sum(k @ (A @ s[1]) for s, k in zip(st, f)),
        sum(k @ (A @ s[1]) for s, k in zip(st, fc)),
    )


if __name__ == "__main__":
    run([section_A, section_A2])
