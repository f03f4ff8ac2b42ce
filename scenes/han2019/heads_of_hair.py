#!/usr/bin/env python3
"""Writes fig05_head_of_hair.json and fig01_dancer.json: a head of hair that walks, and one that dances.

    python3 heads_of_hair.py

Lengths in m, angles in degrees. The head looks along +x, y is up; its motion is that of hair and collider alike. It
begins at rest, and its motion grows to its full width in the first `START` seconds.
"""
import json
import math
import pathlib

START = 0.3


def ramp(t):
    return min(1.0, t / START) ** 2 * (3 - 2 * min(1.0, t / START))


def walk(t):
    """Steps of 0.55 s at 1 m/s: the head rises with each of them and sways and turns a little with every other one."""
    step, stride = 2 * math.pi * t / 0.55, math.pi * t / 0.55
    forward = t - START / 2 if t > START else t * t / (2 * START)
    at = (forward, 0.025 * ramp(t) * (1 - math.cos(step)), 0.02 * ramp(t) * math.sin(stride))
    return at, 8 * ramp(t) * math.sin(stride)


def dance(t):
    """A spin of two turns, stopped, and half a turn back, with a hop."""
    turn = 0.0
    if t > 0.2:
        turn = 720 * smooth((t - 0.2) / 1.2)
    if t > 1.5:
        turn -= 180 * smooth((t - 1.5) / 0.3)
    hop = 0.08 * math.sin(math.pi * (t - 0.4) / 0.5) if 0.4 < t < 0.9 else 0.0
    return (0.1 * math.sin(2 * math.pi * t / 1.6) * ramp(t), hop, 0.0), turn


def smooth(s):
    s = min(1.0, max(0.0, s))
    return s * s * (3 - 2 * s)


def keys(motion, duration, interval):
    result = []
    for k in range(round(duration / interval) + 1):
        t = k * interval
        at, degrees = motion(t)
        result.append({"time": round(t, 4), "at": [round(c, 5) for c in at],
                       "rotation": {"axis": [0, 1, 0], "degrees": round(degrees, 3)}})
    return result


HEAD = {"union": {"blend": 0.03, "shapes": [
    {"shape": {"sphere": 0.095}, "at": [0, 0.02, 0]},
    {"shape": {"sphere": 0.07}, "at": [0.035, -0.045, 0]}]}}
BODY = {"union": {"blend": 0.05, "shapes": [
    {"shape": HEAD, "at": [0, 0, 0]},
    {"shape": {"capsule": {"radius": 0.05, "height": 0.1}}, "at": [-0.02, -0.14, 0]},
    {"shape": {"capsule": {"radius": 0.07, "height": 0.26}}, "at": [-0.02, -0.26, 0],
     "rotation": {"axis": [1, 0, 0], "degrees": 90}}]}}


def scene(name, description, comment, motion, duration, length, hair, render):
    path = keys(motion, duration + 0.1, 0.05)
    body = {
        "tribo": 1, "name": name, "description": description, "fps": 48, "duration": duration,
        "grid": {"dx": 0.016}, "time": {"cfl": 0.6, "dt_max": 0.001},
        "objects": [dict({
            "name": "hair", "type": "hair", "radius": 1e-4, "segments": 16, "youngs_modulus": 5e8, "bend_damping": 2e-3,
            "drag": 0.3, "friction": 0.3,
            "strands": {"scalp": {
                "shape": HEAD, "count": 160, "length": length, "length_variation": 0.2, "spread": 5,
                "region": {"shape": {"half_space": [0.75, -0.66, 0]}, "at": [0.035, 0.02, 0]},
                "comb": {"direction": [-0.15, -1, 0.5], "amount": 0.85, "length": 0.12, "lift": 0.012},
                "parting": {"at": [0, 0, 0], "normal": [0, 0, 1]}}},
            "motion": path}, **hair)],
        "colliders": [{"name": "body", "shape": BODY, "friction": 0.2, "motion": path,
                       "look": {"color": "#d8b49a", "roughness": 0.8}}],
        "render": render,
        "expect": {
            "drift": {"/mass": {"max": 1e-9}},
            "always": {"/missed_collisions": {"max": 0}, "/objects/hair/min/1": {"min": -0.5}}}}
    text = json.dumps(body, indent=1)
    pathlib.Path(__file__).with_name(name + ".json").write_text(comment + text + "\n")


scene("fig05_head_of_hair", "A walking head with hair that falls to the shoulders.",
      """// Han 2019, Fig. 5: a walking head with a full head of hair. Written by heads_of_hair.py.
// The paper's size (Table 1: 1.01 million segments, CFL 0.6; its dx of 0.05 is in other units):
//   --set /objects/0/strands/scalp/count=20200 --set /objects/0/segments=50 --set /grid/dx=0.0025
//   --set /objects/0/radius=0.00004 --set /objects/0/youngs_modulus=4e9
""", walk, 0.5, 0.26, {"look": {"color": "#4a2c17", "variation": 0.4}},
      {"width": 640, "height": 640, "camera": {"from": [0.6, 0.05, 1.0], "to": [0.2, -0.06, 0], "fov": 36}})
scene("fig01_dancer", "The hair of a dancer who spins and stops.",
      """// Han 2019, Fig. 1, middle: the hair of a dancer in motion. Written by heads_of_hair.py.
// The paper's size (Table 1: 490 thousand segments, CFL 0.2; its dx of 0.04 is in other units):
//   --set /objects/0/strands/scalp/count=9800 --set /objects/0/segments=50 --set /grid/dx=0.0025 --set /time/cfl=0.2
//   --set /objects/0/radius=0.00004 --set /objects/0/youngs_modulus=4e9 --set /duration=2.2
""", dance, 0.5, 0.35, {"look": {"color": "#a8703a", "variation": 0.4}},
      {"width": 640, "height": 640, "camera": {"from": [0.3, 0.1, 1.3], "to": [0, -0.08, 0], "fov": 40}})
