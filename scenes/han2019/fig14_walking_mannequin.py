#!/usr/bin/env python3
"""Writes fig14_walking_mannequin.json: a body of capsules and, as pins, the bones in it that walk. Or, with the argument
wall, fig01_wall.json, where it walks through a wall.

    python3 fig14_walking_mannequin.py > fig14_walking_mannequin.json
    python3 fig14_walking_mannequin.py wall > fig01_wall.json

Lengths in m, angles in degrees. The body looks along +x, y is up, z is to its right. It stands with arms and legs apart
at time 0, so that no parts are joined that only touch later, and takes up the walk in the first 0.4 s.
"""
import math
import sys

CYCLE = 1.1  # s, two steps
SPEED = 1.0  # m/s
START = 0.4  # s until the walk is as wide as it gets
KEYS_PER_CYCLE = 12
DURATION = 2.2
HIP, SHOULDER = 0.92, 1.40  # heights


def turn(axis, degrees):
    a = math.radians(degrees) / 2
    return (math.cos(a),) + tuple(math.sin(a) * c for c in axis)


def times(p, q):
    w, x, y, z = p
    W, X, Y, Z = q
    return (w * W - x * X - y * Y - z * Z, w * X + x * W + y * Z - z * Y, w * Y - x * Z + y * W + z * X,
            w * Z + x * Y - y * X + z * W)


def turned(q, v):
    return times(times(q, (0,) + tuple(v)), (q[0], -q[1], -q[2], -q[3]))[1:]


def plus(a, b):
    return tuple(x + y for x, y in zip(a, b))


X, Z = (1, 0, 0), (0, 0, 1)
REST = (1.0, 0.0, 0.0, 0.0)


def pose(t):
    """Where the bones of the body have their joints, and how they are turned from a limb that hangs down."""
    walk = min(1, t / START)
    walk *= walk * (3 - 2 * walk)
    phase = 2 * math.pi * t / CYCLE
    along = SPEED * (t - START / 2 if t > START else t * t / (2 * START))
    hips = (along, HIP + 0.012 * walk * math.cos(2 * phase), 0)
    sway = turn((0, 1, 0), 6 * walk * math.sin(phase))
    bones = {"pelvis": (hips, REST)}
    chest = plus(hips, (0, SHOULDER - HIP, 0))
    bones["chest"] = (chest, sway)
    bones["head"] = (plus(chest, (0, 0.1, 0)), REST)
    for side, sign in (("right", 1), ("left", -1)):
        swing = phase if side == "right" else phase + math.pi
        # Apart by so much, at rest and when walking: thighs rub, arms brush the hips.
        leg_apart = 7 * (1 - walk) + 0.5 * walk
        arm_apart = 38 * (1 - walk) + 5 * walk
        out = lambda degrees: turn(X, -sign * degrees)
        thigh = times(turn(Z, walk * (4 + 24 * math.sin(swing))), out(leg_apart))
        knee = times(thigh, turn(Z, -walk * (22 - 20 * math.cos(swing + 0.6))))
        foot = times(turn(Z, walk * 10 * math.sin(swing)), out(leg_apart * 0.3))
        joint = plus(hips, (0, 0, 0.1 * sign))
        bones[side + " thigh"] = (joint, thigh)
        joint = plus(joint, turned(thigh, (0, -0.42, 0)))
        bones[side + " shin"] = (joint, knee)
        joint = plus(joint, turned(knee, (0, -0.40, 0)))
        bones[side + " foot"] = (joint, foot)
        arm = times(turn(Z, -walk * 26 * math.sin(swing)), out(arm_apart))
        elbow = times(arm, turn(Z, walk * (22 - 12 * math.sin(swing))))
        joint = plus(chest, turned(sway, (0, 0, 0.2 * sign)))
        bones[side + " upper arm"] = (joint, arm)
        joint = plus(joint, turned(arm, (0, -0.28, 0)))
        bones[side + " forearm"] = (joint, elbow)
    return bones


# From and to, in the frame of the bone; radii of the flesh and of the bone.
PARTS = {
    "pelvis": [((0, 0.02, -0.07), (0, 0.02, 0.07), 0.115, 0.06)],
    "chest": [((0, -0.28, 0), (0, -0.06, 0), 0.125, 0.06), ((0, -0.03, -0.12), (0, -0.03, 0.12), 0.085, 0.05)],
    "head": [((0, -0.04, 0), (0, 0.06, 0), 0.06, 0.04), ((0.01, 0.14, 0), (0.01, 0.18, 0), 0.1, 0.06)],
    "thigh": [((0, -0.02, 0), (0, -0.38, 0), 0.085, 0.045)],
    "shin": [((0, -0.04, 0), (0, -0.36, 0), 0.062, 0.04)],
    "foot": [((-0.03, -0.03, 0), (0.14, -0.03, 0), 0.05, 0.035)],
    "upper arm": [((0, -0.02, 0), (0, -0.25, 0), 0.055, 0.04)],
    "forearm": [((0, -0.03, 0), (0, -0.3, 0), 0.05, 0.035)],
}


def parts_of(bone):
    return PARTS[bone.split(" ", 1)[1] if bone not in PARTS else bone]


def numbers(v):
    return "[" + ", ".join(f"{round(c, 4) + 0:g}" for c in v) + "]"


def rotation(q):
    if q[0] < 0:
        q = tuple(-c for c in q)
    sine = math.sqrt(sum(c * c for c in q[1:]))
    degrees = math.degrees(2 * math.atan2(sine, q[0]))
    if degrees < 1e-6:
        return ""
    return f', "rotation": {{ "axis": {numbers([c / sine for c in q[1:]])}, "degrees": {degrees:.4g} }}'


def capsule(place, part, radius):
    at, q = place
    a, b = (plus(at, turned(q, p)) for p in part[:2])
    d = [y - x for x, y in zip(a, b)]
    length = math.sqrt(sum(c * c for c in d))
    d = [c / length for c in d]
    # The turn that brings y to d.
    axis, cosine = (d[2], 0, -d[0]), d[1]
    sine = math.hypot(d[0], d[2])
    turned_by = f', "rotation": {{ "axis": {numbers(axis)}, "degrees": {math.degrees(math.atan2(sine, cosine)):.4g} }}'
    middle = [(x + y) / 2 for x, y in zip(a, b)]
    return (f'{{ "shape": {{ "capsule": {{ "radius": {radius:g}, "height": {length:.4g} }} }}, "at": {numbers(middle)}'
            + (turned_by if sine > 1e-9 else ""))


def main():
    start = pose(0)
    flesh = [capsule(place, part, part[2]) + " }" for bone, place in start.items() for part in parts_of(bone)]
    count = int(math.ceil(DURATION * KEYS_PER_CYCLE / CYCLE)) + 1
    poses = [(k * CYCLE / KEYS_PER_CYCLE, pose(k * CYCLE / KEYS_PER_CYCLE)) for k in range(count)]
    pins = []
    for bone in start:
        keys = []
        for t, bones in poses:
            at, q = bones[bone]
            # From the frame at time 0, whose turn is none: vertices keep their places in it.
            q0 = start[bone][1]
            q = times(q, (q0[0], -q0[1], -q0[2], -q0[3]))
            keys.append(f'            {{ "time": {t:.4f}, "at": {numbers(at)}{rotation(q)} }}')
        regions = [capsule(start[bone], part, part[3]) for part in parts_of(bone)]
        region = regions[0]
        if len(regions) > 1:
            region = '{ "shape": { "union": { "shapes": [\n          ' + " },\n          ".join(regions) + " } ] } }"
        pins.append(f'        // {bone}\n        {region},\n          "motion": [\n' + ",\n".join(keys) + " ] }")
    head, tail = WALL if sys.argv[1:] == ["wall"] else WALKING
    print(head + BODY % (",\n        ".join(flesh), ",\n".join(pins)) + tail)


BODY = """    { "name": "mannequin", "type": "solid", "material": "skin", "element_size": 0.055, "friction": 0.3,
      "shape": { "union": { "blend": 0.04, "shapes": [
        %s ] } },
      "pins": [
%s
      ] }"""

# Head and tail of the two scenes.
WALKING = ("""// Han 2019, Fig. 14: a walking mannequin: soft skin around a skeleton that is told how to move. Arms touch the trunk and
// thighs touch each other; the skin gives way. Body and keyframes are made by fig14_walking_mannequin.py.
// The paper's size (Table 1, left: 933 thousand tets, CFL 0.6; its dx of 0.05 is in other units):
//   --set /objects/0/element_size=0.0103 --set /grid/dx=0.0125 --set /duration=2
{
  "tribo": 1,
  "name": "fig14_walking_mannequin",
  "description": "A mannequin of soft skin around a skeleton walks; arms and thighs touch the body.",
  "fps": 24,
  "duration": 0.75,
  "grid": { "dx": 0.06 },
  "time": { "cfl": 0.6 },
  "materials": {
    "skin": { "model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e4, "poisson_ratio": 0.4,
              "look": { "color": "#c98f6b", "roughness": 0.55 } }
  },
  "objects": [
""", """
  ],
  "colliders": [
    { "name": "ground", "shape": { "half_space": [0, 1, 0] }, "friction": 0.5 }
  ],
  "render": { "width": 720, "height": 540, "camera": { "from": [2.2, 1.3, 3.4], "to": [0.6, 0.85, 0], "fov": 34 } },
  "expect": {
    "drift": { "/mass": { "max": 0 } },
    "always": { "/objects/mannequin/min/1": { "min": -0.02 }, "/objects/mannequin/max/1": { "max": 1.85 } },
    // It has come as far as its bones, its arms are down and its skin is on them.
    "final": {
      "/objects/mannequin/centre/0": { "min": 0.52, "max": 0.58 },
      "/objects/mannequin/centre/2": { "min": -0.02, "max": 0.02 },
      "/objects/mannequin/min/2": { "min": -0.35, "max": -0.25 },
      "/objects/mannequin/max/2": { "min": 0.25, "max": 0.35 },
      "/objects/mannequin/energy/elastic": { "max": 20 }
    }
  }
}""")

WALL = ("""// Han 2019, Fig. 1 left: a mannequin breaks through an elastic wall. Body and keyframes are those of Fig. 14, made by
// fig14_walking_mannequin.py; the wall is particles, and tears where they have come more than a cell apart.
// The paper gives no sizes but those of a mannequin (933 thousand tets, CFL 0.6). As large, with 2.2 million particles:
//   --set /objects/0/element_size=0.0103 --set /grid/dx=0.0125 --set /duration=2
{
  "tribo": 1,
  "name": "fig01_wall",
  "description": "A mannequin breaks through an elastic wall.",
  "fps": 24,
  "duration": 1.5,
  "grid": { "dx": 0.06 },
  "time": { "cfl": 0.6 },
  "materials": {
    "skin": { "model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e4, "poisson_ratio": 0.4,
              "look": { "color": "#c98f6b", "roughness": 0.55 } },
    "wall": { "model": "fixed_corotated", "density": 400, "youngs_modulus": 2e4, "poisson_ratio": 0.3,
              "look": { "color": "#7f93a8", "roughness": 0.7 } }
  },
  "objects": [
""", """,
    { "name": "wall", "type": "particles", "shape": { "box": [0.07, 1.75, 1.1] }, "at": [0.5, 0.875, 0], "material": "wall",
      "sampling": "poisson" }
  ],
  "colliders": [
    { "name": "ground", "shape": { "half_space": [0, 1, 0] }, "friction": 0.5 },
    // What holds the wall at its sides.
    { "name": "frame", "shape": { "difference": { "shapes": [
        { "shape": { "box": [0.2, 2.2, 1.3] } },
        { "shape": { "box": [0.4, 2.4, 0.95] } } ] } }, "at": [0.5, 0.9, 0], "boundary": "sticky" }
  ],
  "render": { "width": 720, "height": 540, "camera": { "from": [3.0, 1.6, 3.0], "to": [0.7, 0.85, 0], "fov": 34 } },
  "expect": {
    "drift": { "/mass": { "max": 1e-9 } },
    "always": { "/objects/mannequin/min/1": { "min": -0.02 } },
    "final": {
      // The body has come as far as its bones, and some of the wall with it.
      "/objects/mannequin/centre/0": { "min": 1.2 },
      "/objects/wall/max/0": { "min": 1.2 }
    }
  }
}""")

main()
