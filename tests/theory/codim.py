"""Checks of docs/theory/codim.md (section C: curves and surfaces in the grid)."""
from checking import RNG, check, close, doc, fd, fdir, rand_rot, run, section
import numpy as np
from transfers import stencil
from materials import FCR, Hencky, NeoHookean, dP_spectral, polar_svd


def qr_pos(d, signed_last=True):
    """d = Q R, r11,r22 > 0, Q a rotation, r33 signed (signed_last) or r33 >= 0 and Q maybe a reflection."""
    q1 = d[:, 0] / np.linalg.norm(d[:, 0])
    t = d[:, 1] - q1 * (q1 @ d[:, 1])
    q2 = t / np.linalg.norm(t)
    q3 = np.cross(q1, q2)
    if not signed_last and q3 @ d[:, 2] < 0:
        q3 = -q3
    Q = np.stack([q1, q2, q3], 1)
    return Q, np.triu(Q.T @ d)


class Surf:
    zeta = 2

    def __init__(s, mu, lam, k, gam):
        s.mu, s.lam, s.k, s.gam = mu, lam, k, gam

    def psi(s, R):
        a, b, c = R[0, 0], R[0, 1], R[1, 1]
        sm = np.hypot(a + c, b)
        h = s.mu * (a * a + b * b + c * c - 2 * sm + 2) + s.lam / 2 * (a * c - 1) ** 2
        f = s.k / 3 * max(0.0, 1 - R[2, 2]) ** 3
        return f + s.gam / 2 * (R[0, 2] ** 2 + R[1, 2] ** 2) + h

    def G(s, R):
        a, b, c = R[0, 0], R[0, 1], R[1, 1]
        sm, J = np.hypot(a + c, b), a * c
        g = np.zeros((3, 3))
        g[0, 0] = 2 * s.mu * (a - (a + c) / sm) + s.lam * (J - 1) * c
        g[0, 1] = 2 * s.mu * b * (1 - 1 / sm)
        g[1, 1] = 2 * s.mu * (c - (a + c) / sm) + s.lam * (J - 1) * a
        g[0, 2], g[1, 2] = s.gam * R[0, 2], s.gam * R[1, 2]
        g[2, 2] = -s.k * max(0.0, 1 - R[2, 2]) ** 2
        return g

    def dG(s, R, dR):
        a, b, c = R[0, 0], R[0, 1], R[1, 1]
        t = a + c
        sm = np.hypot(t, b)
        x, y, z = dR[0, 0], dR[0, 1], dR[1, 1]
        dt_ = (b * b * (x + z) - t * b * y) / sm**3  # d(t/sm)
        db_ = (t * t * y - t * b * (x + z)) / sm**3  # d(b/sm)
        g = np.zeros((3, 3))
        dJ = x * c + a * z
        g[0, 0] = 2 * s.mu * (x - dt_) + s.lam * (dJ * c + (a * c - 1) * z)
        g[0, 1] = 2 * s.mu * (y - db_)
        g[1, 1] = 2 * s.mu * (z - dt_) + s.lam * (dJ * a + (a * c - 1) * x)
        g[0, 2], g[1, 2] = s.gam * dR[0, 2], s.gam * dR[1, 2]
        g[2, 2] = 2 * s.k * max(0.0, 1 - R[2, 2]) * dR[2, 2]
        return g

    def ret(s, R, cF):
        R = R.copy()
        if R[2, 2] > 1:
            R[0, 2] = R[1, 2] = 0
            R[2, 2] = 1
            return R
        if R[2, 2] <= 0:  # inverted: drop shear, keep compression
            R[0, 2] = R[1, 2] = 0
            return R
        ff, fn = s.gam * np.hypot(R[0, 2], R[1, 2]), s.k * (1 - R[2, 2]) ** 2
        if ff > cF * fn:
            R[0, 2] *= cF * fn / ff
            R[1, 2] *= cF * fn / ff
        return R


def hencky2_tau(a, b, c, mu, lam):
    """Kirchhoff stress (2x2) of 2D Hencky for H = [[a,b],[0,c]], no SVD."""
    dv, T = (a * a + b * b - c * c) / 2, a * a + b * b + c * c
    D = 2 * np.hypot(dv, b * c)
    x = D / T
    kap = 2 * np.arctanh(x) / D if D > 1e-10 * T else 2 / T
    l = np.log(a * c)
    return np.array(
        [[(mu + lam) * l + mu * kap * dv, mu * kap * b * c], [mu * kap * b * c, (mu + lam) * l - mu * kap * dv]]
    )


class Curve:
    zeta = 1

    def __init__(s, mu, lam, k, gam):
        s.mu, s.lam, s.k, s.gam = mu, lam, k, gam

    def psi(s, R):
        return (
            s.k / 2 * (R[0, 0] - 1) ** 2
            + s.gam / 2 * (R[0, 1] ** 2 + R[0, 2] ** 2)
            + Hencky(s.mu, s.lam).psi(R[1:, 1:])
        )

    def G(s, R):
        a, b, c = R[1, 1], R[1, 2], R[2, 2]
        t = hencky2_tau(a, b, c, s.mu, s.lam)
        g = np.zeros((3, 3))
        g[0] = s.k * (R[0, 0] - 1), s.gam * R[0, 1], s.gam * R[0, 2]
        g[2, 2], g[1, 2] = t[1, 1] / c, t[0, 1] / c
        g[1, 1] = (t[0, 0] - g[1, 2] * b) / a
        return g

    def dG(s, R, dR):
        g = np.zeros((3, 3))
        g[0] = s.k * dR[0, 0], s.gam * dR[0, 1], s.gam * dR[0, 2]
        g[1:, 1:] = np.triu(dP_spectral(Hencky(s.mu, s.lam), R[1:, 1:], dR[1:, 1:]))
        return g

    def ret(s, R, al, be):
        """returns R_new (upper triangular), 2x2 rotation Q' to absorb into Q[:,1:]."""
        R = R.copy()
        U, sg, V = polar_svd(R[1:, 1:])
        e = np.log(np.maximum(sg, 1e-4))
        tr, dl = e.sum(), e[0] - e[1]
        if tr >= 0:
            e = np.zeros(2)
        elif 2 * s.mu * dl + al * (s.mu + s.lam) * tr > 0:
            eta = dl / 2 + al * (s.mu + s.lam) / (4 * s.mu) * tr
            e = np.array([e[0] - eta, e[1] + eta])
        H = U @ np.diag(np.exp(e)) @ V.T
        th = np.arctan2(H[1, 0], H[0, 0])
        Qp = np.array([[np.cos(th), -np.sin(th)], [np.sin(th), np.cos(th)]])
        H = np.triu(Qp.T @ H)
        sh = s.gam * np.linalg.norm(H @ R[0, 1:])
        lim = -be / 2 * 2 * (s.mu + s.lam) * e.sum()
        R[0, 1:] *= 0 if lim <= 0 else min(1.0, lim / max(sh, 1e-300))
        R[1:, 1:] = H
        return R, Qp


def codim_P(M, F):
    """P = dpsi/dF for psi(R), F = QR."""
    Q, R = qr_pos(F)
    K = M.G(R) @ R.T
    S = np.triu(K) + np.triu(K).T - np.diag(np.diag(K))
    return Q @ S @ np.linalg.inv(R).T


def codim_dP(M, F, dF):
    Q, R = qr_pos(F)
    Ri = np.linalg.inv(R)
    W = Q.T @ dF @ Ri
    Om = np.tril(W, -1) - np.tril(W, -1).T
    U = W - Om
    dR = U @ R
    G, dG = M.G(R), M.dG(R, dR)
    sy = lambda K: np.triu(K) + np.triu(K).T - np.diag(np.diag(K))
    S, dS = sy(G @ R.T), sy(dG @ R.T + G @ dR.T)
    return Q @ (Om @ S + dS - S @ U.T) @ Ri.T


def rand_R():
    R = np.triu(np.eye(3) + 0.25 * RNG.normal(size=(3, 3)))
    return R * np.where(np.eye(3) > 0, np.sign(np.diag(R))[:, None], 1)


def section_C():
    section("C. codimensional curves and surfaces")
    models = {"surface": Surf(1.3, 2.1, 4.0, 0.7), "curve": Curve(1.3, 2.1, 4.0, 0.7)}
    for nm, M in models.items():
        R = rand_R()
        R[2, 2] = 0.8
        Gfd = np.triu(fd(lambda r: M.psi(np.triu(r)), R))
        close(f"C {nm} closed-form dpsi/dR vs FD", M.G(R), Gfd, 1e-7)
        dR = np.triu(RNG.normal(size=(3, 3)))
        close(f"C {nm} d2psi/dR2 action vs FD", M.dG(R, dR), fdir(M.G, R, dR), 1e-6)
        F = rand_rot() @ R
        close(f"C {nm} P = Q(T(K)+T(K)^T-D(K))R^-T vs FD", codim_P(M, F), fd(lambda f: M.psi(qr_pos(f)[1]), F), 1e-7)
        dF = RNG.normal(size=(3, 3))
        close(f"C {nm} dP (differentiated QR) vs FD", codim_dP(M, F, dF), fdir(lambda f: codim_P(M, f), F, dF), 1e-6)
        dF2 = RNG.normal(size=(3, 3))
        close(f"C {nm} dP symmetric", (dF2 * codim_dP(M, F, dF)).sum(), (dF * codim_dP(M, F, dF2)).sum(), 1e-9)
        close(f"C {nm} tau = P F^T symmetric", codim_P(M, F) @ F.T, (codim_P(M, F) @ F.T).T, 1e-9)
        Fi = rand_rot() @ np.triu(R * np.array([1, 1, -0.3]))
        if nm == "surface":
            close("C surface inverted (r33<0) P vs FD", codim_P(M, Fi), fd(lambda f: M.psi(qr_pos(f)[1]), Fi), 1e-7)
            check("C surface inverted: energy falls as r33 grows back", M.G(qr_pos(Fi)[1])[2, 2] < 0)
    # 2D FCR closed form equals the spectral one; traction closed form
    S = models["surface"]
    R = rand_R()
    R[2, 2] = 0.7
    close(
        "C surface h(R1) closed form == 2D FCR",
        S.psi(R) - S.k / 3 * 0.3**3 - S.gam / 2 * (R[0, 2] ** 2 + R[1, 2] ** 2),
        FCR(S.mu, S.lam).psi(R[:2, :2]),
        1e-10,
    )
    F = rand_rot() @ R
    Q, _ = qr_pos(F)
    sig = codim_P(S, F) @ F.T / np.linalg.det(F)
    t = sig @ Q[:, 2]
    tq = np.array([S.gam * R[0, 2], S.gam * R[1, 2], -S.k * (1 - R[2, 2]) ** 2]) / (R[0, 0] * R[1, 1])
    close("C surface traction on q3 with MINUS k(1-r33)^2", Q.T @ t, tq, 1e-9)
    tbad = tq * np.array([1, 1, -1])
    doc("C J17 4.5.1 traction printed with +k(r33-1)^2 q3", np.abs(Q.T @ t - tbad).max() > 1e-2)
    C = models["curve"]
    F = rand_rot() @ R
    Q, _ = qr_pos(F)
    tau = Q.T @ codim_P(C, F) @ F.T @ Q
    close("C curve tau_12,tau_13 = gam R3 (r12,r13)", tau[0, 1:], C.gam * R[1:, 1:] @ R[0, 1:], 1e-9)
    close("C curve tau block == 2D Hencky", tau[1:, 1:], Hencky(C.mu, C.lam).P(R[1:, 1:]) @ R[1:, 1:].T, 1e-9)
    close(
        "C curve sqrt(J2) = 2 mu (e1-e2), with J2 = (t22-t33)^2 + 4 t23^2",
        np.sqrt((tau[1, 1] - tau[2, 2]) ** 2 + 4 * tau[1, 2] ** 2),
        2 * C.mu * np.ptp(np.log(polar_svd(R[1:, 1:])[1])),
        1e-9,
    )


def section_C2():
    section("C2. codimensional return mappings")
    S = Surf(1.3, 2.1, 4.0, 0.7)
    cF = 0.4
    worst = idem = 0
    for _ in range(300):
        R = rand_R()
        R1 = S.ret(R, cF)
        Q = rand_rot()
        F = Q @ R1
        sig = codim_P(S, F) @ F.T / np.linalg.det(F)
        t = sig @ Q[:, 2]
        tn = Q[:, 2] @ t
        worst = max(worst, np.linalg.norm(t - tn * Q[:, 2]) + cF * tn)
        idem = max(idem, np.abs(S.ret(R1, cF) - R1).max())
    check(
        "C2 surface Coulomb |t_t| + cF t_n <= 0 and idempotent",
        worst < 1e-12 and idem < 1e-12,
        f"{worst:.1e} {idem:.1e}",
    )
    C = Curve(1.3, 2.1, 4.0, 0.7)
    al, be = 0.3, 0.35
    w1 = w2 = w3 = idem = vol = 0.0
    on, badlam, badsign = 0.0, 0.0, 0.0
    nplast = 0
    for _ in range(400):
        R = rand_R()
        R1, Qp = C.ret(R, al, be)
        Q = rand_rot()
        Qn = Q.copy()
        Qn[:, 1:] = Q[:, 1:] @ Qp
        F = Qn @ R1
        tau = Qn.T @ codim_P(C, F) @ F.T @ Qn
        sJ2 = np.sqrt((tau[1, 1] - tau[2, 2]) ** 2 + 4 * tau[1, 2] ** 2)
        trt = tau[1, 1] + tau[2, 2]
        w1 = max(w1, sJ2 + al / 2 * trt)
        w2 = max(w2, np.hypot(tau[0, 1], tau[0, 2]) + be / 2 * trt)
        for th in np.linspace(0, np.pi, 19):  # true Coulomb with cF = al+be, any n in span(q2,q3)
            n = np.cos(th) * Qn[:, 1] + np.sin(th) * Qn[:, 2]
            tt = Qn @ tau @ Qn.T @ n
            w3 = max(w3, np.linalg.norm(tt - n * (n @ tt)) + (al + be) * (n @ tt))
        R2, _ = C.ret(R1, al, be)
        idem = max(idem, np.abs(R2 - R1).max())
        e0 = np.log(polar_svd(R[1:, 1:])[1])
        if e0.sum() < 0:
            vol = max(vol, abs(np.log(np.linalg.det(R1[1:, 1:])) - e0.sum()))
            if 2 * C.mu * (e0[0] - e0[1]) + al * (C.mu + C.lam) * e0.sum() > 1e-3:
                nplast += 1
                on = max(on, abs(sJ2 + al / 2 * trt))
                dl, tr = e0[0] - e0[1], e0.sum()
                f = lambda e: 2 * C.mu * (e[0] - e[1]) + al * (C.mu + C.lam) * e.sum()
                eta = dl / 2 + al * C.lam / (4 * C.mu) * tr
                badlam = max(badlam, abs(f(np.array([e0[0] - eta, e0[1] + eta]))))
                eta = dl / 2 + al * (C.mu + C.lam) / (4 * C.mu) * tr
                badsign = max(badsign, abs((e0 - eta).sum() - tr))
    check(
        "C2 curve cross-section yield <= 0, on surface when plastic",
        w1 < 1e-11 and on < 1e-11 and nplast > 20,
        f"{w1:.1e} {on:.1e} n={nplast}",
    )
    check("C2 curve along-fiber yield <= 0", w2 < 1e-11, f"{w2:.1e}")
    check("C2 curve implies Coulomb with cF = alpha+beta (alpha+beta <= sqrt 3)", w3 < 1e-11, f"{w3:.1e}")
    check("C2 curve idempotent, area kept when compressed", idem < 1e-10 and vol < 1e-12, f"{idem:.1e} {vol:.1e}")
    doc("C2 J17 eta with alpha*lam/(4mu) misses the surface (needs lam+mu)", badlam > 1e-3)
    doc("C2 J17 eps2 = eps2 - eta does not preserve eps1+eps2 (needs + eta)", badsign > 1e-3)


class CodimElement:
    """One segment (zeta=1) or triangle (zeta=2) with one quadrature particle, on a quadratic grid."""

    def __init__(s, M, X, x, h, V, Q0):
        s.M, s.z, s.h, s.V = M, M.zeta, h, V
        E = [X[b] - X[0] for b in range(1, s.z + 1)]
        Nn = [np.cross(E[0], E[1])] if s.z == 2 else None
        if s.z == 1:
            a = np.cross(E[0], [0.3, -0.8, 0.5])
            Nn = [a, np.cross(E[0], a)]
        D = np.stack(E + [n / np.linalg.norm(n) for n in Nn], 1)
        s.RD = qr_pos(D)[1]
        s.RDi = np.linalg.inv(s.RD)
        s.vst = [stencil(v, h, 2) for v in x]
        s.qst = stencil(x.mean(0), h, 2)
        s.nodes = sorted({t[0] for st in s.vst + [s.qst] for t in st})
        s.id = {n: k for k, n in enumerate(s.nodes)}
        s.x0 = np.array([np.array(n) * h for n in s.nodes])
        rot = Q0 @ (np.eye(3) + 0.1 * RNG.normal(size=(3, 3)))
        s.dn = {b: rot @ D[:, b] for b in range(s.z, 3)}  # normal directions at time n

    def dirs(s, xh):
        v = [sum(w * xh[s.id[i]] for i, _, w, _ in st) for st in s.vst]
        gx = sum(np.outer(xh[s.id[i]], g) for i, _, _, g in s.qst)
        c = [v[b] - v[0] for b in range(1, s.z + 1)] + [gx @ s.dn[b] for b in range(s.z, 3)]
        return np.stack(c, 1)

    def energy(s, xh):
        return s.V * s.M.psi(qr_pos(s.dirs(xh) @ s.RDi)[1])

    def scatter(s, dpsi_dd):
        """-V dpsi/dd -> grid forces: type (ii) via vertices, type (iii) via grad w."""
        f2, f3 = np.zeros_like(s.x0), np.zeros_like(s.x0)
        fv = [-s.V * dpsi_dd[:, b] for b in range(s.z)]
        fv = [-sum(fv)] + fv
        for a, st in enumerate(s.vst):
            for i, _, w, _ in st:
                f2[s.id[i]] += w * fv[a]
        for i, _, _, g in s.qst:
            for b in range(s.z, 3):
                f3[s.id[i]] -= s.V * dpsi_dd[:, b] * (s.dn[b] @ g)
        return f2, f3

    def force(s, xh):
        f2, f3 = s.scatter(codim_P(s.M, s.dirs(xh) @ s.RDi) @ s.RDi.T)
        return f2 + f3

    def dforce(s, xh, du):
        f2, f3 = s.scatter(codim_dP(s.M, s.dirs(xh) @ s.RDi, s.dirs(du) @ s.RDi) @ s.RDi.T)
        return f2 + f3


def section_C3():
    section("C3. codimensional grid forces, Hessian, backward Euler, rest state, mass split")
    for nm, M, nv in (("surface", Surf(1.3, 2.1, 4.0, 0.7), 3), ("curve", Curve(1.3, 2.1, 4.0, 0.7), 2)):
        h = 0.5
        X = RNG.normal(size=(nv, 3)) * 0.3
        Q0 = rand_rot()
        x = X @ Q0.T + 0.02 * RNG.normal(size=(nv, 3))
        el = CodimElement(M, X, x, h, 0.8, Q0)
        xh = el.x0 + 0.03 * RNG.normal(size=el.x0.shape)
        f = el.force(xh)
        close(f"C3 {nm} grid force (ii)+(iii) = -dPhi/dx_hat", f, -fd(el.energy, xh), 1e-6)
        f0 = el.force(el.x0)
        close(f"C3 {nm} net force zero", f0.sum(0), np.zeros(3), 1e-11)
        close(f"C3 {nm} net torque zero (explicit, at x_i)", np.cross(el.x0, f0).sum(0), np.zeros(3), 1e-11)
        du, dv = RNG.normal(size=xh.shape), RNG.normal(size=xh.shape)
        close(f"C3 {nm} Hessian action vs FD of force", el.dforce(xh, du), fdir(el.force, xh, du), 1e-6)
        close(
            f"C3 {nm} Hessian symmetric (MINRES is allowed)",
            (dv * el.dforce(xh, du)).sum(),
            (du * el.dforce(xh, dv)).sum(),
            1e-10,
        )
        # backward Euler: residual is the gradient of the incremental potential
        m = RNG.uniform(0.5, 2, len(el.nodes))[:, None]
        vn, dt, g = RNG.normal(size=xh.shape), 0.01, np.array([0, -9.8, 0])
        res = lambda v: m * (v - vn - dt * g) - dt * el.force(el.x0 + dt * v)
        pot = lambda v: 0.5 * (m * (v - vn - dt * g) ** 2).sum() + el.energy(el.x0 + dt * v)
        v = vn.copy()
        close(f"C3 {nm} BE residual = gradient of incremental potential", res(v), fd(pot, v), 1e-6)
        for _ in range(8):
            n = v.size
            Jm = np.stack(
                [(m * e - dt * dt * el.dforce(el.x0 + dt * v, e)).ravel() for e in np.eye(n).reshape(n, *v.shape)], 1
            )
            v = v - np.linalg.solve(Jm, res(v).ravel()).reshape(v.shape)
        check(f"C3 {nm} Newton on BE converges", np.abs(res(v)).max() < 1e-11, f"{np.abs(res(v)).max():.1e}")
        # rest state: R = R_d R_D^-1 is the identity for a rigidly rotated element, raw QR of d is not
        Q0 = rand_rot()
        D = np.stack([X[b] - X[0] for b in range(1, nv)] + [np.zeros(3)] * (4 - nv), 1)
        Nn = np.linalg.svd(D[:, : nv - 1])[0][:, nv - 1 :]
        D[:, nv - 1 :] = Nn
        if np.linalg.det(D) < 0:
            D[:, 2] *= -1
        Rn = qr_pos(Q0 @ D)[1] @ np.linalg.inv(qr_pos(D)[1])
        close(f"C3 {nm} R = R_d R_D^-1 is I at rest", Rn, np.eye(3), 1e-10)
        doc(
            f"C3 {nm} QR of F D with raw edge vectors is not I at rest (J17 3.3 vs 4.3)",
            np.abs(qr_pos(Q0 @ D)[1] - np.eye(3)).max() > 0.05,
        )
    # volume split of J17 4.1: a flat square cut into 2 triangles, uniform stretch, any number n_q of points
    Xs = np.array([[0, 0, 0], [1.0, 0, 0], [0, 1, 0], [1, 1, 0]])
    tri, th, rho = [(0, 1, 2), (1, 3, 2)], 0.1, 3.0
    M = Surf(1.3, 2.1, 4.0, 0.7)
    Fs = np.diag([1.2, 0.95, 0.9])
    exact = 1.0 * th * M.psi(qr_pos(Fs)[1])  # area 1 * thickness * density of energy
    for nq_ in (1, 3):
        Vv, Ephi, Efull = np.zeros(4), 0.0, 0.0
        Vq_tot = 0.0
        for t in tri:
            D = np.stack([Xs[t[1]] - Xs[t[0]], Xs[t[2]] - Xs[t[0]], [0, 0, 1.0]], 1)
            Ve = 0.5 * th * np.linalg.det(D)
            share = Ve / (3 + nq_)
            Vv[list(t)] += share
            R = qr_pos(Fs @ D)[1] @ np.linalg.inv(qr_pos(D)[1])
            Vq_tot += nq_ * share
            Ephi += nq_ * share * M.psi(R)
            Efull += nq_ * (Ve / nq_) * M.psi(R)
        close(f"C3 n_q={nq_} shares: total mass = rho * area * thickness", rho * (Vv.sum() + Vq_tot), rho * th)
        close(f"C3 n_q={nq_} energy volume V_e/n_q gives the exact membrane energy", Efull, exact, 1e-10)
        close(
            f"C3 n_q={nq_} J17 share volume gives n_q/(3+n_q) of it (so stiffness depends on n_q)",
            Ephi / exact,
            nq_ / (3 + nq_),
            1e-10,
        )
    # spectral form of Neo-Hookean
    F = np.eye(3) + 0.2 * RNG.normal(size=(3, 3))
    mu, lam = 1.3, 2.1

    class NHs:
        def spectral(s, sg):
            l = np.log(sg.prod())
            A = lam / np.outer(sg, sg)
            A[np.diag_indices(3)] = mu + (mu + lam - lam * l) / sg**2
            ss = np.outer(sg, sg)
            return A, mu + (mu - lam * l) / ss, mu - (mu - lam * l) / ss

    dF = RNG.normal(size=(3, 3))
    close("B Neo-Hookean spectral blocks", dP_spectral(NHs(), F, dF), NeoHookean(mu, lam).dP(F, dF), 1e-9)


if __name__ == "__main__":
    run([section_C, section_C2, section_C3])
