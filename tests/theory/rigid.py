"""Checks of docs/theory/rigid.md (section F: rigid bodies)."""
from checking import check, expm_so3, fd_grad, relerr, run, skew
import numpy as np


def qr_pos(F):
    """QR with positive r11, r22 and det(Q) = +1 (r33 may be negative when inverted)."""
    q1 = F[:, 0] / np.linalg.norm(F[:, 0])
    u = F[:, 1] - q1 * (q1 @ F[:, 1])
    q2 = u / np.linalg.norm(u)
    q3 = np.cross(q1, q2)
    Q = np.stack([q1, q2, q3], 1)
    R = Q.T @ F
    R[1, 0] = R[2, 0] = R[2, 1] = 0
    return Q, R


def rc_psi(d, kc, ga):
    _, R = qr_pos(d)
    r = R[2, 2]
    return (kc / 3 * (1 - r) ** 3 if r <= 1 else 0.0) + ga / 2 * (R[0, 2] ** 2 + R[1, 2] ** 2)


def rc_A(d, kc, ga):
    """tau = Q A Q^T and the column traction Psi3 = (psi_13, psi_23, psi_33)."""
    Q, R = qr_pos(d)
    r = R[:, 2]
    p = np.array([ga * r[0], ga * r[1], -kc * (1 - r[2]) ** 2 if r[2] <= 1 else 0.0])
    A = np.array([[p[0] * r[0], p[0] * r[1], p[0] * r[2]], [0, p[1] * r[1], p[1] * r[2]], [0, 0, p[2] * r[2]]])
    A = A + np.triu(A, 1).T
    return Q, R, p, A


def rc_return(d, kc, ga, cF):
    Q, R = qr_pos(d)
    R = R.copy()
    if R[2, 2] > 1:
        R[2, 2] = 1.0
        R[0, 2] = R[1, 2] = 0.0
    else:
        s = np.hypot(R[0, 2], R[1, 2])
        lim = cF * kc * (1 - R[2, 2]) ** 2
        if ga * s > lim:
            R[0, 2] *= lim / (ga * s)
            R[1, 2] *= lim / (ga * s)
    return Q @ R


def check_F_energy():
    rng = np.random.default_rng(6)
    kc, ga, cF = 5.0, 3.0, 0.4
    worst = [0, 0, 0, 0]
    for _ in range(50):
        D = np.eye(3)
        D[:2, :2] = np.array([[1.2, 0.3], [0, 0.8]])  # rest edges in the local frame, D3 = e3
        d = expm_so3(rng.normal(size=3)) @ (np.eye(3) + 0.25 * rng.normal(size=(3, 3))) @ D
        if not 0.2 < qr_pos(d)[1][2, 2] < 0.97:
            continue
        Fm = d @ np.linalg.inv(D)
        Q, R, p, A = rc_A(d, kc, ga)
        Pf = fd_grad(lambda G: rc_psi(G @ D, kc, ga), Fm)
        tau = Q @ A @ Q.T
        worst[0] = max(worst[0], relerr(tau @ np.linalg.inv(Fm).T, Pf))
        worst[1] = max(
            worst[1], relerr(Q @ p, fd_grad(lambda c: rc_psi(np.stack([d[:, 0], d[:, 1], c], 1), kc, ga), d[:, 2]))
        )
        Q2, R2 = qr_pos(Fm)
        worst[2] = max(worst[2], relerr(R2[:, 2], R[:, 2]))
        dr = rc_return(d, kc, ga, cF)
        Qr, Rr, pr, Ar = rc_A(dr, kc, ga)
        t = Ar[:, 2]
        worst[3] = max(
            worst[3],
            np.hypot(t[0], t[1]) + cF * t[2],
            np.abs(rc_return(dr, kc, ga, cF) - dr).max(),
            relerr(dr[:, :2], d[:, :2]),
        )
    check("F.stress tau = Q A Q^T (all three columns move) = dpsi/dF F^T vs FD", worst[0] < 1e-7, f"{worst[0]:.1e}")
    check("F.stress dpsi/dd3 = Q (psi13, psi23, psi33) vs FD", worst[1] < 1e-7, f"{worst[1]:.1e}")
    check("F.QR of F equals QR of d when D is in the local triangle frame (D3 = e3)", worst[2] < 1e-12)
    check(
        "F.return mapping: traction on q3 inside the cone, idempotent, tangents untouched",
        worst[3] < 1e-12,
        f"{worst[3]:.1e}",
    )
    # with D in an arbitrary world frame, QR of F = d D^-1 (H19 text) mixes tangent and normal
    Rw = expm_so3(np.array([0.9, 0.2, -0.4]))
    D = np.eye(3)
    D[:2, :2] = np.array([[1.2, 0.3], [0, 0.8]])
    d = Rw @ np.diag([1, 1, 0.8]) @ D  # pure normal compression to r33 = 0.8
    check(
        "F.TYPO: QR of F = d D^-1 with world-frame D does not give r33",
        abs(qr_pos(d @ np.linalg.inv(Rw @ D))[1][2, 2] - 0.8) > 1e-2 and abs(qr_pos(d)[1][2, 2] - 0.8) < 1e-12,
    )


def check_F_dynamics():
    rng = np.random.default_rng(7)
    Nq = 50
    M = 3.0
    mq = M / Nq
    xq = rng.normal(size=(Nq, 3))
    com = xq.mean(0)
    r = xq - com
    Jb = sum(mq * (np.dot(a, a) * np.eye(3) - np.outer(a, a)) for a in r)
    Iq = rng.normal(size=(Nq, 3)) * 0.01
    v = np.array([0.1, 0.2, 0.3])
    w = np.array([1.0, -0.5, 0.2])
    v1 = v + Iq.sum(0) / M
    L0 = Jb @ w
    w1 = w + np.linalg.solve(Jb, np.cross(r, Iq).sum(0))
    check(
        "F.momentum: eq 40 with total mass and eq 41 reproduce sum I and sum r x I",
        relerr(M * (v1 - v), Iq.sum(0)) < 1e-12 and relerr(Jb @ w1 - L0, np.cross(r, Iq).sum(0)) < 1e-12,
    )
    check("F.TYPO eq 40 as printed gives another momentum than sum I", relerr(M * (Iq / mq).sum(0), Iq.sum(0)) > 0.5)
    Jb = np.diag([1.0, 2.0, 3.5])

    def run(method, dt, T=5.0):
        R = expm_so3(np.array([0.3, 0.1, 0.2]))
        L = R @ Jb @ np.array([0.2, 2.0, 0.1])
        E0 = 0.5 * L @ np.linalg.solve(R @ Jb @ R.T, L)
        for _ in range(int(round(T / dt))):
            inv = lambda R: R @ np.linalg.inv(Jb) @ R.T
            w = inv(R) @ L
            if method == "euler":
                R = expm_so3(dt * w) @ R
            elif method == "buss":
                wd = -inv(R) @ np.cross(w, L)
                R = expm_so3(dt * (w + dt / 2 * wd + dt * dt / 12 * np.cross(wd, w))) @ R
            else:  # implicit midpoint on the rotation
                wm = w
                for _k in range(8):
                    wm = inv(expm_so3(dt / 2 * wm) @ R) @ L
                R = expm_so3(dt * wm) @ R
        E = 0.5 * L @ np.linalg.solve(R @ Jb @ R.T, L)
        return abs(E / E0 - 1), R

    e = {m: (run(m, 0.02)[0], run(m, 0.01)[0]) for m in ("euler", "buss", "mid")}
    ref = run("mid", 0.0005)[1]
    er = [np.abs(run("mid", h)[1] - ref).max() for h in (0.02, 0.01)]
    check(
        "F.rotation: midpoint with L held fixed, second order",
        3.5 < er[0] / er[1] < 4.6,
        f"orientation err {er[0]:.1e}, {er[1]:.1e}",
    )
    check(
        "F.rotation energy drift: euler-exp 1st order, midpoint far smaller",
        e["euler"][0] > 20 * e["mid"][0] and 1.5 < e["euler"][0] / e["euler"][1] < 2.6,
        " ".join(f"{m}: {a:.1e}/{b:.1e}" for m, (a, b) in e.items()),
    )
    # hinge: reduced dof against the full KKT solve
    a = np.array([0, 0.6, 0.8])
    Rb = expm_so3(rng.normal(size=3))
    Jw = Rb @ np.diag([1.0, 2.0, 3.0]) @ Rb.T
    off = np.array([0.1, 0.4, -0.3])  # center of mass relative to the pivot (off-axis)
    P = rng.normal(size=3)
    S = rng.normal(size=3)  # total impulse and its moment about the center of mass
    Ia = a @ Jw @ a + M * (off @ off - (a @ off) ** 2)
    dw = a @ (S + np.cross(off, P)) / Ia
    A = np.zeros((11, 11))
    rhs = np.zeros(11)
    A[:3, :3] = M * np.eye(3)
    A[3:6, 3:6] = Jw
    rhs[:3] = P
    rhs[3:6] = S
    G = np.zeros((5, 6))
    G[:3, :3] = np.eye(3)
    G[:3, 3:] = skew(off)  # pivot velocity = v + w x (-off) = v + off x w
    b1 = np.cross(a, [1.0, 0, 0])
    b1 /= np.linalg.norm(b1)
    G[3, 3:] = b1
    G[4, 3:] = np.cross(a, b1)
    A[:6, 6:] = G.T
    A[6:, :6] = G
    sol = np.linalg.solve(A, rhs)
    check(
        "F.hinge: scalar update equals the KKT solution",
        relerr(sol[3:6], dw * a) < 1e-12 and relerr(sol[:3], np.cross(dw * a, off)) < 1e-12,
    )


if __name__ == "__main__":
    run([check_F_energy, check_F_dynamics])
