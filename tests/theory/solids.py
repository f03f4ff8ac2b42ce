"""Checks of docs/theory/solids.md (section D: meshes of tets with contact through the grid)."""
import itertools
from checking import RNG, check, close, doc, fdir, rand_rot, run, section
import numpy as np
from transfers import eps_contract, g2p, p2g
from materials import FCR, dP_spectral


def box_mesh(n=(2, 2, 2), size=1.0):
    g = np.array([[i, j, k] for i in range(n[0] + 1) for j in range(n[1] + 1) for k in range(n[2] + 1)])
    ix = {tuple(a): b for b, a in enumerate(g)}
    T = []
    for c in itertools.product(*[range(a) for a in n]):
        for perm in itertools.permutations(range(3)):
            v = [np.array(c)]
            for a in perm:
                e = np.zeros(3, int)
                e[a] = 1
                v.append(v[-1] + e)
            t = [ix[tuple(a)] for a in v]
            T.append(t)
    X = g * (size / n[0])
    T = np.array(T)
    for t in T:
        if np.linalg.det((X[t[1:]] - X[t[0]]).T) < 0:
            t[[2, 3]] = t[[3, 2]]
    return X.astype(float), T


def boundary(T):
    F = {}
    for t in T:
        for f in ((t[0], t[2], t[1]), (t[0], t[1], t[3]), (t[1], t[2], t[3]), (t[0], t[3], t[2])):
            k = tuple(sorted(f))
            F[k] = None if k in F else f
    return np.array([f for f in F.values() if f is not None])


class Fem:
    def __init__(s, X, T, rho, model):
        s.T, s.model, s.n = T, model, len(X)
        Dm = np.array([(X[t[1:]] - X[t[0]]).T for t in T])
        s.V = np.linalg.det(Dm) / 6
        s.Bm = np.linalg.inv(Dm)
        s.m = np.zeros(len(X))
        for t, v in zip(T, s.V):
            s.m[t] += rho * v / 4

    def F(s, x):
        return np.array([(x[t[1:]] - x[t[0]]).T @ B for t, B in zip(s.T, s.Bm)])

    def energy(s, x):
        return sum(s.model.psi(F) * v for F, v in zip(s.F(x), s.V))

    def force(s, x):
        f = np.zeros_like(x)
        for t, B, v, F in zip(s.T, s.Bm, s.V, s.F(x)):
            H = -v * s.model.P(F) @ B.T
            f[t[1:]] += H.T
            f[t[0]] -= H.sum(1)
        return f

    def dforce(s, x, dx, project=True):
        f = np.zeros_like(x)
        for t, B, v, F in zip(s.T, s.Bm, s.V, s.F(x)):
            dF = (dx[t[1:]] - dx[t[0]]).T @ B
            H = -v * dP_spectral(s.model, F, dF, project) @ B.T
            f[t[1:]] += H.T
            f[t[0]] -= H.sum(1)
        return f


def backward_euler(fem, x0, v0, dt, g, iters=30, tol=1e-9):
    """Newton-CG with projected Hessian and energy line search; returns x, v_lag, log."""
    m = fem.m[:, None]
    xt = x0 + dt * v0 + dt * dt * g
    E = lambda x: 0.5 / dt**2 * (m * (x - xt) ** 2).sum() + fem.energy(x)
    grad = lambda x: m * (x - xt) / dt**2 - fem.force(x)
    x, log = x0 + dt * v0, []
    for _ in range(iters):
        r = -grad(x)
        log.append((E(x), np.abs(r / m).max() * dt))
        if log[-1][1] < tol:
            break
        A = lambda y: m * y / dt**2 - fem.dforce(x, y)
        y, res = np.zeros_like(x), r.copy()
        p, rr = res / m, (res * res / m).sum()
        r0 = rr
        for _ in range(400):
            Ap = A(p)
            a = rr / (p * Ap).sum()
            y, res = y + a * p, res - a * Ap
            rn = (res * res / m).sum()
            if rn < 1e-16 * r0:
                break
            p, rr = res / m + rn / rr * p, rn
        t = 1.0
        while E(x + t * y) > E(x) - 1e-4 * t * (r * y).sum() + 1e-13 * abs(E(x)) and t > 1e-8:
            t *= 0.5
        x = x + t * y
    return x, (x - x0) / dt, log


def sample_boundary(X, tri, mv, dx, c=2.0, kind="share"):
    """Collision particles: list of (triangle, bary b, m_q). kind: how triangle mass is made from vertex mass."""
    A = np.array([0.5 * np.linalg.norm(np.cross(X[t[1]] - X[t[0]], X[t[2]] - X[t[0]])) for t in tri])
    Av = np.zeros(len(X))
    for t, a in zip(tri, A):
        Av[t] += a
    out = []
    for k, t in enumerate(tri):
        mt = sum(mv[v] * A[k] / Av[v] for v in t)
        n = max(1, int(np.ceil(c * A[k] / dx**2)))
        for _ in range(n):
            r1, r2 = np.sqrt(RNG.random()), RNG.random()
            out.append((k, np.array([1 - r1, r1 * (1 - r2), r1 * r2]), mt / n))
    return out


def impulse(v_lag, v_grd, n, mu, e=1.0):
    """H19 (20)-(23) with restitution e (paper: e = 1)."""
    vr = v_grd - v_lag
    vn = vr @ n
    if vn >= 0:
        return np.zeros(3)
    vt = vr - vn * n
    a = np.linalg.norm(vt)
    dv = (1 + e) * vn * n
    return dv + (min(a, -mu * (1 + e) * vn) / a * vt if a > 1e-14 else 0)


def section_D():
    section("D. hybrid solids")
    X, T = box_mesh((2, 2, 2))
    tri = boundary(T)
    fem = Fem(X, T, 1000.0, FCR(4e4, 6e4))
    x = X @ rand_rot().T + 0.04 * RNG.normal(size=X.shape)
    f = fem.force(x)
    dirn = RNG.normal(size=x.shape)
    close("D FEM force = -dPsi/dx (H19 13)", -(f * dirn).sum(), fdir(fem.energy, x, dirn), 1e-7)
    close("D FEM force derivative vs FD", fem.dforce(x, dirn, False), fdir(fem.force, x, dirn), 1e-6)
    close("D FEM net force and torque zero", np.r_[f.sum(0), np.cross(x, f).sum(0)], np.zeros(6), 1e-9, np.abs(f).max())
    nrm = np.array([np.cross(X[t[1]] - X[t[0]], X[t[2]] - X[t[0]]) for t in tri])
    check("D boundary normals point outwards", all(((X[t].mean(0) - 0.5) @ n) > 0 for t, n in zip(tri, nrm)))
    # backward Euler
    v0 = RNG.normal(size=x.shape)
    g0 = np.zeros(3)
    dt = 0.01
    x1, v1, log = backward_euler(fem, x, v0, dt, g0)
    check(
        "D backward Euler Newton-CG converges",
        log[-1][1] < 1e-7 and len(log) < 25,
        f"{len(log)} its, res {log[-1][1]:.1e}",
    )
    check(
        "D BE incremental potential never rises", all(b[0] <= a[0] * (1 + 1e-10) + 1e-9 for a, b in zip(log, log[1:]))
    )
    close("D BE keeps linear momentum (g=0)", fem.m @ v1, fem.m @ v0, 1e-6, np.abs(fem.m[:, None] * v0).sum())
    close("D BE: v_lag = v^n + dt f(x^{n+1})/m (H19 14, alpha=1)", v1, v0 + dt * fem.force(x1) / fem.m[:, None], 1e-6)
    # damping grid
    h = 0.5
    V, C = RNG.normal(size=x.shape), 0.3 * RNG.normal(size=(len(x), 3, 3))
    L = lambda V_, C_: (np.cross(x, V_) * fem.m[:, None]).sum(0) + sum(
        m * h * h / 4 * eps_contract(c) for m, c in zip(fem.m, C_)
    )
    V2, C2, ke = V, C, []
    for _ in range(3):
        G = p2g(x, V2, fem.m, h, 2, C2)
        V2, _, C2 = g2p(x, {i: e[1] / e[0] for i, e in G.items()}, h, 2)
        C2 = np.array([0.5 * (c - c.T) + 0.4 * 0.5 * (c + c.T) for c in C2])
        ke.append(0.5 * (fem.m[:, None] * V2**2).sum() + 0.5 * h * h / 4 * (fem.m[:, None, None] * C2**2).sum())
    close("D damping grid keeps linear momentum (3 passes)", fem.m @ V2, fem.m @ V)
    close("D damping grid keeps angular momentum incl. affine part", L(V2, C2), L(V, C))
    check("D damping grid: generalized kinetic energy decreases", ke[0] > ke[1] > ke[2])
    # collision particles
    dx = 0.5
    Q = sample_boundary(X, tri, fem.m, dx)
    mq = np.array([q[2] for q in Q])
    Mp = np.zeros(len(X))
    for k, b, m in Q:
        Mp[tri[k]] += b * m
    bd = np.unique(tri)
    close("D sum_q m_q = boundary vertex mass = sum_p M_p", [mq.sum(), Mp.sum()], [fem.m[bd].sum()] * 2)
    Vp = RNG.normal(size=X.shape)
    vq = np.array([b @ Vp[tri[k]] for k, b, _ in Q])
    xq = np.array([b @ X[tri[k]] for k, b, _ in Q])
    G = p2g(xq, vq, mq, dx, 2)
    vg = g2p(xq, {i: e[1] / e[0] for i, e in G.items()}, dx, 2)[0]
    close("D unfiltered type (ii) smoothing: sum m_q v_r = 0", mq @ (vg - vq), np.zeros(3), 1e-9, mq.sum())
    nq = np.array([nrm[k] / np.linalg.norm(nrm[k]) for k, _, _ in Q])
    dvq = np.array([impulse(vq[a], vg[a], nq[a], 0.3) for a in range(len(Q))])
    dvp = np.zeros_like(X)
    ws = np.zeros(len(X))
    for (k, b, m), dv in zip(Q, dvq):
        for a, p in enumerate(tri[k]):
            dvp[p] += b[a] * m / Mp[p] * dv
            ws[p] += b[a] * m / Mp[p]
    close("D H19(25) weights sum to 1 over q", ws[bd], np.ones(len(bd)))
    close("D H19(24-25): sum_p M_p dv_p = sum_q m_q dv_q, M_p = sum_q b_pq m_q", Mp @ dvp, mq @ dvq)
    doc(
        "D with true vertex masses m_p the same sum differs (m_p != M_p)",
        np.abs(fem.m @ dvp - mq @ dvq).max() > 1e-3 * np.abs(mq @ dvq).max(),
    )
    dvc = np.zeros_like(X)
    for (k, b, m), dv in zip(Q, dvq):
        for a, p in enumerate(tri[k]):
            dvc[p] += b[a] * m / fem.m[p] * dv
    close("D conservative variant dv_p = sum b m_q dv_q / m_p moves exactly sum m_q dv_q", fem.m @ dvc, mq @ dvq)
    check(
        "D Coulomb bound |dv_t| <= mu |dv_n|",
        all(np.linalg.norm(d - (d @ n) * n) <= 0.3 * abs(d @ n) + 1e-12 for d, n in zip(dvq, nq)),
    )
    # rigid translation gives nothing; rotation gives spurious impulses with PIC, none with the affine transfer
    vt = np.tile([1.0, -2, 0.5], (len(Q), 1))
    gv = lambda G: {i: e[1] / e[0] for i, e in G.items()}
    vg = g2p(xq, gv(p2g(xq, vt, mq, dx, 2)), dx, 2)[0]
    close("D isolated translating body: v_r = 0", vg, vt, 1e-10)
    W = np.array([[0, -1, 0.4], [1, 0, -0.2], [-0.4, 0.2, 0]])
    vrot = (xq - 0.5) @ W.T
    vg = g2p(xq, gv(p2g(xq, vrot, mq, dx, 2)), dx, 2)[0]
    dpic = sum(np.linalg.norm(impulse(a, b, n, 0.3)) * m for a, b, n, m in zip(vrot, vg, nq, mq)) / (
        mq @ np.linalg.norm(vrot, axis=1)
    )
    doc(
        "D isolated ROTATING body gets spurious impulses with H19(18) (PIC)",
        dpic > 0.01,
        f"sum|m dv|/sum|m v| = {dpic:.3f} per step",
    )
    vg = g2p(xq, gv(p2g(xq, vrot, mq, dx, 2, np.array([W] * len(Q)))), dx, 2)[0]
    close("D affine P2G (C_q = element velocity gradient) removes them", vg, vrot, 1e-9)


def section_D2():
    section("D2. hybrid impulses: pair laws")
    # two collision particles at one point, n2 = -n1
    worst_p = worst_e = worst_ve = 0.0
    fric_e = -1.0
    for _ in range(300):
        m1, m2 = RNG.uniform(0.2, 5, 2)
        v1, v2 = RNG.normal(size=(2, 3))
        n = RNG.normal(size=3)
        n /= np.linalg.norm(n)
        vg = (m1 * v1 + m2 * v2) / (m1 + m2)
        mu = RNG.uniform(0, 2)
        for e in (0.0, 0.5, 1.0):
            a, b = impulse(v1, vg, n, mu, e), impulse(v2, vg, -n, mu, e)
            worst_p = max(worst_p, np.abs(m1 * a + m2 * b).max())
            ke = lambda p, q: 0.5 * m1 * p @ p + 0.5 * m2 * q @ q
            fric_e = max(fric_e, ke(v1 + a, v2 + b) - ke(v1, v2))
            if (v1 - v2) @ n > 0:
                worst_ve = max(worst_ve, abs((v1 + a - v2 - b) @ n + e * (v1 - v2) @ n))
        a, b = impulse(v1, vg, n, 0.0, 1.0), impulse(v2, vg, -n, 0.0, 1.0)
        worst_e = max(worst_e, abs(ke(v1 + a, v2 + b) - ke(v1, v2)))
    check("D2 pair: momentum conserved incl. friction (any e, mu)", worst_p < 1e-12, f"{worst_p:.1e}")
    check("D2 pair: normal relative velocity reversed times e", worst_ve < 1e-12, f"{worst_ve:.1e}")
    check("D2 pair: factor 2 (e=1), mu=0 conserves kinetic energy", worst_e < 1e-12, f"{worst_e:.1e}")
    check("D2 pair: kinetic energy never rises with friction", fric_e < 1e-12, f"{fric_e:.1e}")


def section_D3():
    section("D3. hybrid impulses: coverage, momentum")
    # coverage: two plates half a cell apart, stratified c = 2 per dx^2
    dx, Ls = 1.0, 12.0
    resp = {}
    for gap, c in ((0.5, 2.0), (1.0, 2.0), (3.01, 2.0), (0.5, 0.25)):
        k = int(round(np.sqrt(c) * Ls / dx))
        pl = lambda z: np.array(
            [[(i + RNG.random()) * Ls / k, (j + RNG.random()) * Ls / k, z] for i in range(k) for j in range(k)]
        )
        z0 = RNG.random()
        A, B = pl(z0), pl(z0 + gap * dx)
        Xa = np.r_[A, B]
        s = np.r_[np.ones(len(A)), -np.ones(len(B))]
        V = np.c_[np.zeros((len(s), 2)), s]
        G = p2g(Xa, V, np.ones(len(s)), dx, 2)
        vg = g2p(Xa, {i: e[1] / e[0] for i, e in G.items()}, dx, 2)[0]
        inn = (np.abs(Xa[:, :2] - Ls / 2) < Ls / 2 - 2).all(1)
        resp[(gap, c)] = (1 - vg[:, 2] * s)[inn]  # fraction of the approach speed removed by the grid
    r = resp[(0.5, 2.0)]
    check(
        "D3 coverage c=2 stratified, gap dx/2: every particle responds evenly",
        r.min() > 0.55 and r.min() / r.mean() > 0.7,
        f"min {r.min():.2f} mean {r.mean():.2f}",
    )
    r = resp[(1.0, 2.0)]
    check(
        "D3 at gap dx about half the approach speed is removed (so e=1 stops there)",
        0.3 < r.mean() < 0.6,
        f"mean {r.mean():.2f}",
    )
    check("D3 no interaction beyond 3 dx", np.abs(resp[(3.01, 2.0)]).max() < 1e-12)
    a, b = resp[(0.5, 0.25)], resp[(0.5, 2.0)]
    check(
        "D3 c=0.25 is visibly weaker and uneven",
        a.mean() < 0.9 * b.mean() and a.min() < 0.6 * b.min(),
        f"min {a.min():.2f} mean {a.mean():.2f}",
    )
    # two boxes, oblique hit: the one-sided filter breaks exact momentum balance
    X, T = box_mesh((2, 2, 2))
    tri = boundary(T)
    mv = np.zeros(len(X))
    for t in T:
        mv[t] += 1.0 / len(T) / 4
    for h in (0.25,):
        Ra = rand_rot()
        data = []
        for off, rot, vel in (
            (np.zeros(3), np.eye(3), np.array([1.0, 0.2, 0])),
            (np.array([1.12, 0.25, 0.1]), Ra, np.array([-1.0, 0, 0.3])),
        ):
            Xb = (X - 0.5) @ rot.T + 0.5 + off
            for k, b, m in sample_boundary(Xb, tri, mv, h, 4.0):
                t = tri[k]
                n = np.cross(Xb[t[1]] - Xb[t[0]], Xb[t[2]] - Xb[t[0]])
                data.append((b @ Xb[t], vel, n / np.linalg.norm(n), m))
        xq, vq, nq = (np.array([d[i] for d in data]) for i in range(3))
        mq = np.array([d[3] for d in data])
        G = p2g(xq, vq, mq, h, 2)
        vg = g2p(xq, {i: e[1] / e[0] for i, e in G.items()}, h, 2)[0]
        dv = np.array([impulse(a, b, n, 0.3) for a, b, n in zip(vq, vg, nq)])
        tot, absum = np.abs(mq @ dv).max(), (mq * np.linalg.norm(dv, axis=1)).sum()
        doc(
            "D3 oblique two-box hit: H19 filter leaves a net impulse (not conserved)",
            0.05 < tot / absum < 0.2,
            f"|sum m dv|/sum|m dv| = {tot / absum:.3f}",
        )
        Ji = p2g(xq, dv, mq, h, 2)  # per-node net impulse and mass
        corr = g2p(xq, {i: e[1] / e[0] for i, e in Ji.items()}, h, 2)[0]
        close(
            "D3 optional node-wise fix dv_q -= sum_i w_iq J_i/m_i restores sum m dv = 0",
            mq @ (dv - corr),
            np.zeros(3),
            1e-12,
            absum,
        )
    # spurious impulse of an isolated rotating box shrinks with dx
    W = np.array([[0, -1, 0.4], [1, 0, -0.2], [-0.4, 0.2, 0]])
    out = []
    for h in (0.5, 0.25, 0.125):
        Q = sample_boundary(X, tri, mv, h, 4.0)
        xq = np.array([b @ X[tri[k]] for k, b, _ in Q])
        nq = np.array([np.cross(X[tri[k][1]] - X[tri[k][0]], X[tri[k][2]] - X[tri[k][0]]) for k, _, _ in Q])
        nq /= np.linalg.norm(nq, axis=1)[:, None]
        mq = np.array([q[2] for q in Q])
        vq = (xq - 0.5) @ W.T
        vg = g2p(xq, {i: e[1] / e[0] for i, e in p2g(xq, vq, mq, h, 2).items()}, h, 2)[0]
        out.append(
            sum(np.linalg.norm(impulse(a, b, n, 0.3)) * m for a, b, n, m in zip(vq, vg, nq, mq))
            / (mq @ np.linalg.norm(vq, axis=1))
        )
    check(
        "D3 spurious rotation impulse is 0.10, 0.03, 0.01 of the momentum at dx = L/2, L/4, L/8",
        np.abs(np.log(np.array(out) / [0.1, 0.03, 0.01])).max() < np.log(1.5),
        " ".join(f"{o:.3f}" for o in out),
    )


if __name__ == "__main__":
    run([section_D, section_D2], slow=[section_D3])
