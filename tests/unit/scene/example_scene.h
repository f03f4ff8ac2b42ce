#pragma once

namespace tribo::test {

/// A scene that uses every part of the format: shorthands, presets in all three ways, motion, comments.
inline constexpr const char* example_scene = R"json({
  "tribo": 1, "name": "example", "description": "a little of everything",
  "precision": "double", "fps": 25, "duration": 2.5, "gravity": [0, -9.80665, 0.1],
  "grid": {"dx": 0.02, "kernel": "quadratic", "transfer": "apic"},  // metres
  "time": {"integrator": "symplectic", "cfl": 0.55, "dt_max": 1e-3, "dt_min": 1e-10},
  "materials": {
    "sand": "dry_sand",
    "coarse": {"preset": "dry_sand", "friction_angle": 40.125},
    "a/b~c": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 5e4, "poisson_ratio": 0.1}
  },
  "objects": [
    {"name": "block", "type": "particles", "shape": {"box": [0.4, 0.3, 0.4]}, "at": [0, 0.15, 0], "material": "a/b~c",
     "rotation": {"axis": [0, 1, 0], "degrees": 30}, "velocity": [1, 2, 3], "angular_velocity": [0, 0, -1e-7],
     "velocity_field": {"taylor_green": {"speed": 0.5, "wavelength": 0.2, "center": [0.1, 0, 0]}}},
    {"type": "particles", "shape": {"cylinder": {"radius": 0.1, "height": 0.8}}, "material": "sand",
     "particles_per_cell": 6.5, "sampling": "poisson", "seed": 4294967295},
    {"type": "particles", "shape": {"sphere": 0.333333333333333314829616256247}, "material": "water"},
    {"name": "coarse", "type": "particles", "shape": {"capsule": {"radius": 0.1, "height": 0}}, "material": "coarse"},
    {"type": "emitter", "shape": {"sphere": 0.1}, "at": [1, 1, 0], "material": "sand", "velocity": [0, -2, 0],
     "mass_rate": 50, "from": 0.5, "until": 2, "max_volume": 0.25}
  ],
  "colliders": [
    {"shape": {"half_space": [0, 1, 0]}, "friction": 0.5, "boundary": "separate", "at": [0, -0.1, 0]},
    {"name": "drum", "shape": {"box": {"size": [1, 1, 1]}}, "inside": true, "boundary": "sticky",
     "motion": [{"time": -1}, {"time": 1, "at": [0, 0.1, 0], "rotation": {"axis": [0, 0, 2], "degrees": 720}}]}
  ],
  "sinks": [{"shape": {"half_space": [0, 1, 0]}, "at": [0, -2, 0]},
            {"name": "drain", "shape": {"box": [0.1, 0.1, 0.1]}, "from": 1, "until": 1.5}],
  "output": {"formats": [], "checkpoint_frames": 0, "checkpoint_minutes": 2.5, "checkpoints_kept": 3},
  /* free in form */
  "expect": {"mass": 5e4, "centre": [1, 2.50], "note": "é\n", "nested": {"empty": {}, "list": []}}
})json";

}  // namespace tribo::test
