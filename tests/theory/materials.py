"""Checks of docs/theory/materials.md (section B: constitutive models)."""
from checking import RNG, check, close, doc, fd, fdir, rand_rot, run, section
import numpy as np


def polar_svd(F):
    """F = U diag(s) V^T, det U = det V = +1, s sorted by decreasing |s|, sign of det F on the last."""
    U, s, Vt = np.linalg.svd(F)
    V = Vt.T
    if np.linalg.det(U) < 0:
        U[:, -1] *= -1
        s[-1] *= -1
    if np.linalg.det(V) < 0:
        V[:, -1] *= -1
        s[-1] *= -1
    return U, s, V


class FCR:
    def __init__(s, mu, lam):
        s.mu, s.lam = mu, lam

    def psi(s, F):
        _, sg, _ = polar_svd(F)
        return s.mu * ((sg - 1) ** 2).sum() + s.lam / 2 * (sg.prod() - 1) ** 2

    def P(s, F):
        U, sg, V = polar_svd(F)
        cof = np.linalg.det(F) * np.linalg.inv(F).T
        return 2 * s.mu * (F - U @ V.T) + s.lam * (np.linalg.det(F) - 1) * cof

    def spectral(s, sg):
        """A (d x d), p_ij, q_ij for the block form of dP."""
        d, J = len(sg), sg.prod()
        A, p, q = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
        for i in range(d):
            A[i, i] = 2 * s.mu + s.lam * np.prod(np.delete(sg, i)) ** 2
            for j in range(d):
                if i != j:
                    k = np.prod(np.delete(sg, [i, j]))  # sigma_k, 1 in 2D
                    A[i, j] = s.lam * (2 * J - 1) * k
                    p[i, j] = 2 * s.mu - s.lam * (J - 1) * k
                    t = sg[i] + sg[j]
                    q[i, j] = 2 * s.mu - 4 * s.mu / (t if abs(t) > 1e-9 else 1e-9) + s.lam * (J - 1) * k
        return A, p, q


class Hencky:
    def __init__(s, mu, lam):
        s.mu, s.lam = mu, lam

    def psi(s, F):
        e = np.log(polar_svd(F)[1])
        return s.mu * (e**2).sum() + s.lam / 2 * e.sum() ** 2

    def P(s, F):
        U, sg, V = polar_svd(F)
        e = np.log(sg)
        return U @ np.diag((2 * s.mu * e + s.lam * e.sum()) / sg) @ V.T

    def spectral(s, sg):
        d = len(sg)
        e = np.log(sg)
        g = (2 * s.mu * e + s.lam * e.sum()) / sg
        A = s.lam / np.outer(sg, sg)
        A[np.diag_indices(d)] = (2 * s.mu + s.lam) / sg**2 - g / sg
        p, q = np.zeros((d, d)), np.zeros((d, d))
        for i in range(d):
            for j in range(d):
                if i != j:
                    ds = sg[i] - sg[j]
                    tr = s.lam * e.sum()
                    # (ln si/si - ln sj/sj)/(si-sj), stable
                    r = np.log1p(ds / sg[j]) / ds if abs(ds) > 1e-7 * sg[j] else 1 / sg[j]
                    p[i, j] = (2 * s.mu * (r - e[j] / sg[j]) - tr / sg[j]) / sg[i]
                    q[i, j] = (g[i] + g[j]) / (sg[i] + sg[j])
        return A, p, q


class NeoHookean:
    def __init__(s, mu, lam):
        s.mu, s.lam = mu, lam

    def psi(s, F):
        lJ = np.log(np.linalg.det(F))
        return s.mu / 2 * ((F * F).sum() - len(F)) - s.mu * lJ + s.lam / 2 * lJ**2

    def P(s, F):
        FiT = np.linalg.inv(F).T
        return s.mu * (F - FiT) + s.lam * np.log(np.linalg.det(F)) * FiT

    def dP(s, F, dF):
        FiT = np.linalg.inv(F).T
        lJ = np.log(np.linalg.det(F))
        return s.mu * dF + (s.mu - s.lam * lJ) * FiT @ dF.T @ FiT + s.lam * (FiT * dF).sum() * FiT


def dP_spectral(model, F, dF, project=False):
    U, sg, V = polar_svd(F)
    A, p, q = model.spectral(sg)
    if project:
        w, E = np.linalg.eigh(A)
        A = E @ np.diag(np.maximum(w, 0)) @ E.T
        p, q = np.maximum(p, 0), np.maximum(q, 0)
    H = U.T @ dF @ V
    O = np.diag(A @ np.diag(H))
    for i in range(len(sg)):
        for j in range(len(sg)):
            if i != j:
                O[i, j] = p[i, j] * 0.5 * (H[i, j] + H[j, i]) + q[i, j] * 0.5 * (H[i, j] - H[j, i])
    return U @ O @ V.T


def fluid_p(J, K, g):
    return K / g * (J**-g - 1)


def section_B():
    section("B. constitutive models: energies, stresses, derivatives")
    mu, lam = 1.3, 2.1
    for d in (2, 3):
        F = np.eye(d) + 0.4 * RNG.normal(size=(d, d))
        if np.linalg.det(F) < 0:
            F[:, 0] *= -1
        Finv = F.copy()
        Finv[:, 0] *= -1
        for F_, nm in ((F, "det>0"), (Finv, "inverted")):
            U, s, V = polar_svd(F_)
            ok = (
                np.allclose(U @ np.diag(s) @ V.T, F_)
                and np.linalg.det(U) > 0
                and np.linalg.det(V) > 0
                and all(s[:-1] > 0)
                and abs(s[-1]) <= s[0]
                and np.sign(s[-1]) == np.sign(np.linalg.det(F_))
            )
            check(f"B polar SVD {d}D {nm}", ok)
            M = FCR(mu, lam)
            close(f"B FCR {d}D {nm} P = dpsi/dF", M.P(F_), fd(M.psi, F_), 1e-7)
            dF = RNG.normal(size=(d, d))
            close(f"B FCR {d}D {nm} dP spectral vs FD", dP_spectral(M, F_, dF), fdir(M.P, F_, dF), 1e-6)
        U, s, V = polar_svd(F)
        Pbad = mu * (F - U @ V.T) + lam * (np.linalg.det(F) - 1) * np.linalg.det(F) * np.linalg.inv(F).T
        doc(f"B H19(3) P with mu(F-R) is not dpsi/dF ({d}D)", np.abs(Pbad - fd(FCR(mu, lam).psi, F)).max() > 1e-2)
        for cls in (Hencky, NeoHookean):
            M = cls(mu, lam)
            close(f"B {cls.__name__} {d}D P = dpsi/dF", M.P(F), fd(M.psi, F), 1e-6)
            dF = RNG.normal(size=(d, d))
            got = M.dP(F, dF) if cls is NeoHookean else dP_spectral(M, F, dF)
            close(f"B {cls.__name__} {d}D dP vs FD", got, fdir(M.P, F, dF), 1e-5)
        S = np.diag(1 / s)
        L = np.diag(np.log(s))
        doc(
            f"B H19(9) with lam*Sigma^-1 ln Sigma is not dpsi/dF ({d}D)",
            np.abs(U @ (2 * mu * S @ L + lam * S @ L) @ V.T - fd(Hencky(mu, lam).psi, F)).max() > 1e-2,
        )
        lit = lambda f: (mu + lam / 2) * (np.log(polar_svd(f)[1]) ** 2).sum()
        close(
            f"B H19(8) read literally as tr((ln S)^2) IS consistent with (9) as printed ({d}D)",
            U @ (2 * mu * S @ L + lam * S @ L) @ V.T,
            fd(lit, F),
            1e-6,
        )
        h_ = 1e-4
        bulk = lambda f: (f((1 + h_) * np.eye(d)) + f((1 - h_) * np.eye(d)) - 2 * f(np.eye(d))) / h_**2 / d**2
        close(f"B K16 energy has bulk modulus lam + 2mu/d ({d}D)", bulk(Hencky(mu, lam).psi), lam + 2 * mu / d, 1e-5)
        doc(
            f"B literal (8) has bulk modulus (2mu+lam)/d, so lam is not a Lame parameter ({d}D)",
            abs(bulk(lit) - (2 * mu + lam) / d) < 1e-4 and abs(bulk(lit) - (lam + 2 * mu / d)) > 0.1,
        )
        # projected Hessian is PSD and equals the true one near rest
        worst = 0.0
        for _ in range(50):
            G = np.eye(d) + RNG.normal(size=(d, d))
            for cls in (FCR, Hencky):
                if cls is Hencky and np.linalg.det(G) < 0:
                    continue
                dF = RNG.normal(size=(d, d))
                worst = min(worst, (dF * dP_spectral(cls(mu, lam), G, dF, True)).sum())
        check(f"B projected dP is PSD ({d}D, 50 random F)", worst > -1e-9, f"min {worst:.1e}")
        G = rand_rot(d) @ np.diag(1 + 0.2 * np.arange(1, d + 1) / d)
        dF = RNG.normal(size=(d, d))
        close(
            f"B projection inactive in moderate tension ({d}D)",
            dP_spectral(FCR(mu, lam), G, dF, True),
            dP_spectral(FCR(mu, lam), G, dF),
        )
    # energy equals the R-based form
    F = np.eye(3) + 0.3 * RNG.normal(size=(3, 3))
    U, s, V = polar_svd(F)
    close("B FCR sum(s-1)^2 == |F-R|^2", ((s - 1) ** 2).sum(), ((F - U @ V.T) ** 2).sum())
    # fluid
    K, g = 5.0, 7.0
    psi = lambda J: K / g * (J + J ** (1 - g) / (g - 1))
    for J in (0.8, 1.0, 1.3):
        close(f"B fluid -dpsi/dJ = p at J={J}", -(psi(J + 1e-6) - psi(J - 1e-6)) / 2e-6, fluid_p(J, K, g), 1e-7)
    F = np.eye(3) + 0.1 * RNG.normal(size=(3, 3))
    f = lambda F_: psi(np.linalg.det(F_))
    close(
        "B fluid P F^T = -p J I", fd(f, F) @ F.T, -fluid_p(np.linalg.det(F), K, g) * np.linalg.det(F) * np.eye(3), 1e-6
    )
    h = 1e-6
    close("B fluid bulk modulus -dp/dJ(1) = K", -(fluid_p(1 + h, K, g) - fluid_p(1 - h, K, g)) / (2 * h), K, 1e-7)


def dp_return(s, mu, lam, alpha, vc=0.0):
    """Drucker-Prager on singular values with T17 volume correction; returns s_new, vc_new, dq, case."""
    d = len(s)
    e = np.log(s) + vc / d
    tr = e.sum()
    eh = e - tr / d
    n = np.linalg.norm(eh)
    if tr >= 0:
        H, dq, case = np.zeros(d), np.linalg.norm(e), "tip"
    else:
        dg = n + (d * lam + 2 * mu) / (2 * mu) * tr * alpha
        if dg <= 0:
            H, dq, case = e, 0.0, "elastic"
        else:
            H, dq, case = e - dg * eh / n, dg, "cone"
    return np.exp(H), vc + np.log(s).sum() - H.sum(), dq, case


def dp_yield(s, mu, lam, alpha):
    e = np.log(s)
    t = 2 * mu * e + lam * e.sum()
    return alpha * t.sum() + np.linalg.norm(t - t.mean())


def vm_return(s, mu, sY):
    e = np.log(s)
    eh = e - e.mean()
    n = np.linalg.norm(eh)
    dg = n - np.sqrt(2 / 3) * sY / (2 * mu)
    return s if dg <= 0 else np.exp(e - dg * eh / n)


def hb_solve(st, sy, mu, eta, hexp, dt):
    """s_new + 2 mu dt ((s_new-sy)/eta)^(1/h) = s_trial on [sy, st] by bisection + closed form for h=1."""
    if st <= sy:
        return st
    if hexp == 1.0:
        return sy + (st - sy) / (1 + 2 * mu * dt / eta)
    lo, hi = sy, st
    for _ in range(200):
        m = 0.5 * (lo + hi)
        if m + 2 * mu * dt * ((m - sy) / eta) ** (1 / hexp) > st:
            hi = m
        else:
            lo = m
    return 0.5 * (lo + hi)


def section_B2():
    section("B2. return mappings")
    mu, lam = 1.3, 2.1
    phi = np.radians(35)
    alpha = np.sqrt(2 / 3) * 2 * np.sin(phi) / (3 - np.sin(phi))
    for d in (2, 3):
        worst, idem, vol, seen = -1.0, 0.0, 0.0, set()
        onsurf = 0.0
        for _ in range(400):
            s = np.exp(0.4 * RNG.normal(size=d) + 0.3 * RNG.normal())
            vc = RNG.uniform(0, 0.3) if RNG.random() < 0.5 else 0.0
            s1, vc1, dq, case = dp_return(s, mu, lam, alpha, vc)
            seen.add(case)
            y = dp_yield(s1, mu, lam, alpha)
            worst = max(worst, y)
            if case == "cone":
                onsurf = max(onsurf, abs(y))
            s2, vc2, _, _ = dp_return(s1, mu, lam, alpha, 0.0)
            idem = max(idem, np.abs(s2 - s1).max())
            vol = max(vol, abs(np.log(s1).sum() + vc1 - np.log(s).sum() - vc), -vc1)
        check(f"B2 DP {d}D all three cases met", len(seen) == 3)
        check(f"B2 DP {d}D yield <= 0 after mapping", worst < 1e-12, f"{worst:.1e}")
        check(f"B2 DP {d}D cone case lands on the surface", onsurf < 1e-12, f"{onsurf:.1e}")
        check(f"B2 DP {d}D idempotent (vc = 0)", idem < 1e-12, f"{idem:.1e}")
        check(f"B2 T17 {d}D ln det F + vc conserved, vc >= 0", vol < 1e-12, f"{vol:.1e}")
        s = np.exp(np.array([0.2] + [0.1] * (d - 1)))
        s1, vc1, _, _ = dp_return(s, mu, lam, alpha, 0.0)  # expand: goes to the tip
        s2, vc2, _, _ = dp_return(s1 / s, mu, lam, alpha, vc1)  # undo exactly
        close(f"B2 T17 {d}D expand-then-contract cycle gains no pressure", np.log(s2).sum() + vc2, 0.0, 1e-12)
        s3, _, _, _ = dp_return(s1 / s, mu, lam, alpha, 0.0)
        doc(f"B2 without T17 the same cycle leaves spurious pressure ({d}D)", np.log(s3).sum() < -0.1)
    # von Mises
    worst, idem, dvol = 0, 0, 0
    sY = 0.4
    for _ in range(200):
        s = np.exp(0.5 * RNG.normal(size=3))
        s1 = vm_return(s, mu, sY)
        t = 2 * mu * (np.log(s1) - np.log(s1).mean())
        worst = max(worst, np.linalg.norm(t) - np.sqrt(2 / 3) * sY)
        idem = max(idem, np.abs(vm_return(s1, mu, sY) - s1).max())
        dvol = max(dvol, abs(s.prod() - s1.prod()) / s.prod())
    check(
        "B2 von Mises yield, idempotent, volume kept",
        worst < 1e-12 and idem < 1e-12 and dvol < 1e-12,
        f"{worst:.1e} {idem:.1e} {dvol:.1e}",
    )
    # Herschel-Bulkley
    for hexp in (0.5, 1.0, 2.0):
        st, sy, eta, dt = 2.0, 0.6, 0.7, 0.05
        sn = hb_solve(st, sy, mu, eta, hexp, dt)
        close(f"B2 HB h={hexp} implicit residual", sn + 2 * mu * dt * ((sn - sy) / eta) ** (1 / hexp), st, 1e-10)
        check(f"B2 HB h={hexp} sy <= s_new <= s_trial", sy <= sn <= st)
    close("B2 HB eta->0 is von Mises", hb_solve(2.0, 0.6, mu, 1e-12, 1.0, 0.05), 0.6, 1e-9)
    close("B2 HB dt->0 is elastic", hb_solve(2.0, 0.6, mu, 0.7, 1.0, 1e-14), 2.0, 1e-9)
    # snow
    tc, ts = 2.5e-2, 7.5e-3
    F = np.eye(3) + 0.2 * RNG.normal(size=(3, 3))
    FP = np.eye(3) + 0.1 * RNG.normal(size=(3, 3))
    Ft = F @ FP
    U, s, V = polar_svd(F)
    sc = np.clip(s, 1 - tc, 1 + ts)
    FE, FPn = U @ np.diag(sc) @ V.T, V @ np.diag(1 / sc) @ U.T @ Ft
    close("B2 snow FE FP keeps F", FE @ FPn, Ft)
    close("B2 snow idempotent", np.clip(polar_svd(FE)[1], 1 - tc, 1 + ts), polar_svd(FE)[1], 1e-12)
    close("B2 snow JP scalar form JP *= det(S)/det(Sc)", np.linalg.det(FPn), np.linalg.det(FP) * s.prod() / sc.prod())


if __name__ == "__main__":
    run([section_B, section_B2])
