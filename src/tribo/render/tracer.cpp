#include "tribo/render/tracer.h"

#include <embree3/rtcore.h>
#include <oneapi/tbb/blocked_range2d.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <string>
#include <vector>

#include "tribo/core/errors.h"
#include "tribo/io/run_info.h"
#include "tribo/render/sampler.h"

namespace tribo {
namespace {

using V = Vec<float, 3>;
constexpr float pi = std::numbers::pi_v<float>;
constexpr int most_layers = 1000;  ///< of translucent surfaces that a ray passes through

V product(const V& a, const V& b) { return {{a[0] * b[0], a[1] * b[1], a[2] * b[2]}}; }
V mix(const V& a, const V& b, float t) { return (1 - t) * a + t * b; }
V unit(const V& v) { return v * (1 / std::sqrt(std::fmax(squared_norm(v), 1e-30F))); }
float largest(const V& v) { return std::max({v[0], v[1], v[2]}); }
float smooth_step(float low, float high, float x) {
  const float t = std::clamp((x - low) / (high - low), 0.0F, 1.0F);
  return t * t * (3 - 2 * t);
}

/// Light from afar. Radiances are such that white paper in the sun comes out just below white.
struct Sky {
  V up;
  V sun;                 ///< toward it
  float cos_sun_radius;  ///< of the half angle it is seen under
  V sun_irradiance{{4.1F, 3.9F, 3.5F}};

  V radiance(const V& direction) const {
    const float height = dot(direction, up);
    if (height < 0) return mix({{0.62F, 0.62F, 0.62F}}, {{0.3F, 0.29F, 0.28F}}, std::min(1.0F, -3 * height));
    return mix({{0.78F, 0.80F, 0.84F}}, {{0.42F, 0.55F, 0.80F}}, std::sqrt(height));
  }
  /// What the camera sees where there is nothing: paler than what lights the scene, so that figures stand out.
  V backdrop(const V& direction) const {
    const float height = dot(direction, up);
    return mix({{1.42F, 1.43F, 1.44F}}, {{0.95F, 1.05F, 1.18F}}, smooth_step(-0.05F, 0.9F, height));
  }
};

/// Embree's handles, given back in the end.
struct ReleaseDevice {
  void operator()(RTCDevice device) const { rtcReleaseDevice(device); }
};
struct ReleaseScene {
  void operator()(RTCScene scene) const { rtcReleaseScene(scene); }
};
using DeviceHandle = std::unique_ptr<RTCDeviceTy, ReleaseDevice>;
using SceneHandle = std::unique_ptr<RTCSceneTy, ReleaseScene>;

[[noreturn]] void embree_failure(RTCError error) {
  if (error == RTC_ERROR_OUT_OF_MEMORY)
    throw DeviceError("out of memory while drawing; draw fewer particles, or on a larger machine");
  throw Error(ExitCode::internal, "Embree reported error " + std::to_string(static_cast<int>(error)));
}

/// One geometry in an Embree scene and what it stands for.
struct Part {
  enum class Kind { spheres, mesh, curves } kind;
  std::size_t index;  ///< into the stage's meshes or curves
};

/// The stage as Embree knows it. Vertex arrays are shared with the stage, not copied.
class World {
 public:
  explicit World(const Stage& stage) : stage_(stage), device_(rtcNewDevice(nullptr)) {
    if (!device_) embree_failure(rtcGetDeviceError(nullptr));
    solid_ = make_scene();
    clear_ = make_scene();
    if (!stage.spheres.centers.empty()) add_spheres();
    for (std::size_t i = 0; i < stage.meshes.size(); ++i) add_mesh(i);
    for (std::size_t i = 0; i < stage.curves.size(); ++i) add_curves(i);
    rtcCommitScene(solid_.get());
    rtcCommitScene(clear_.get());
    if (const RTCError error = rtcGetDeviceError(device_.get()); error != RTC_ERROR_NONE) embree_failure(error);
    const auto look_at = [&](std::uint32_t surface) {
      translucent_ = translucent_ || stage.surfaces[surface].opacity < 1;
    };
    for (const std::uint32_t surface : stage.spheres.surface) look_at(surface);
    for (const StageMesh& mesh : stage.meshes)
      if (!mesh.clear) look_at(mesh.surface);
    for (const StageCurves& curves : stage.curves)
      if (!curves.clear) look_at(curves.surface);
  }

  /// What a ray meets.
  struct Hit {
    float t = std::numeric_limits<float>::infinity();
    V normal;  ///< of the surface, against the ray
    V face;    ///< of the facet that was hit, against the ray: where rays may start from
    V color;
    const Surface* surface = nullptr;
    float skin = 0;      ///< how far off the surface new rays start [m]
    bool plane = false;  ///< ground that goes on forever
    bool fiber = false;
    V tangent = V::zero();  ///< of a fiber
    float radius = 0;       ///< of a fiber
    explicit operator bool() const { return surface != nullptr; }
  };

  /// The nearest surface. Clear walls are there for the camera only, which sees those that face it.
  Hit nearest(const V& from, const V& direction, bool camera) const {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = camera ? RTC_INTERSECT_CONTEXT_FLAG_COHERENT : RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT;
    RTCRayHit query = make_query(from, direction, 0);
    rtcIntersect1(solid_.get(), &context, &query);
    for (int i = 0; camera && i < most_layers && is_back(query); ++i) {
      query = make_query(from, direction, beyond(query));
      rtcIntersect1(solid_.get(), &context, &query);
    }
    Hit hit;
    if (query.hit.geomID != RTC_INVALID_GEOMETRY_ID) hit = described(query, solid_parts_[query.hit.geomID]);
    if (camera && !clear_parts_.empty()) {
      float start = 0;
      for (int i = 0; i < 16; ++i) {  // more walls behind each other than anyone has
        RTCRayHit wall = make_query(from, direction, start);
        wall.ray.tfar = hit.t;
        rtcIntersect1(clear_.get(), &context, &wall);
        if (wall.hit.geomID == RTC_INVALID_GEOMETRY_ID) break;
        const Part& part = clear_parts_[wall.hit.geomID];
        if (part.kind != Part::Kind::mesh || facing(wall)) {
          hit = described(wall, part);
          break;
        }
        start = beyond(wall);
      }
    }
    for (const StagePlane& plane : stage_.planes) {
      const float t = distance_to(plane, from, direction);
      if (t < hit.t) {
        const Surface& surface = stage_.surfaces[plane.surface];
        hit = {t, plane.normal, plane.normal, surface.color, &surface, 1e-5F * stage_.radius, true, false, {}, 0};
      }
    }
    return hit;
  }

  /// Whether light comes through; `chance`, evenly distributed, decides at what is neither solid nor clear.
  bool open(const V& from, const V& direction, float chance) const {
    for (const StagePlane& plane : stage_.planes)
      if (distance_to(plane, from, direction) < std::numeric_limits<float>::infinity()) return false;
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT;
    if (!translucent_) {
      RTCRay ray = make_query(from, direction, 0).ray;
      rtcOccluded1(solid_.get(), &context, &ray);
      return ray.tfar >= 0;
    }
    float transmitted = 1, start = 0;
    for (int i = 0; i < most_layers && transmitted > chance; ++i) {
      RTCRayHit query = make_query(from, direction, start);
      rtcIntersect1(solid_.get(), &context, &query);
      if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return true;
      const Hit hit = described(query, solid_parts_[query.hit.geomID]);
      transmitted *= 1 - hit.surface->opacity;
      start = query.ray.tfar * 1.0001F + hit.skin;
    }
    return transmitted > chance;
  }

 private:
  SceneHandle make_scene() const {
    SceneHandle scene(rtcNewScene(device_.get()));
    if (!scene) embree_failure(rtcGetDeviceError(device_.get()));
    rtcSetSceneFlags(scene.get(), RTC_SCENE_FLAG_COMPACT | RTC_SCENE_FLAG_ROBUST);
    return scene;
  }

  /// Embree may read up to 16 bytes past an element: the stage's arrays are shared only where theirs end later.
  template <class T>
  void share(RTCGeometry geometry, RTCBufferType type, unsigned slot, RTCFormat format, const std::vector<T>& data) {
    if constexpr (sizeof(T) % 16 == 0) {
      rtcSetSharedGeometryBuffer(geometry, type, slot, format, data.data(), 0, sizeof(T), data.size());
    } else {
      void* const copy = rtcSetNewGeometryBuffer(geometry, type, slot, format, sizeof(T), data.size());
      if (copy != nullptr) std::copy(data.begin(), data.end(), static_cast<T*>(copy));
    }
  }

  void attach(RTCGeometry geometry, Part part, bool clear) {
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(clear ? clear_.get() : solid_.get(), geometry);
    rtcReleaseGeometry(geometry);
    (clear ? clear_parts_ : solid_parts_).push_back(part);
  }

  void add_spheres() {
    RTCGeometry geometry = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_SPHERE_POINT);
    share(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, stage_.spheres.centers);
    attach(geometry, {Part::Kind::spheres, 0}, false);
  }
  void add_mesh(std::size_t index) {
    const StageMesh& mesh = stage_.meshes[index];
    RTCGeometry geometry = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_TRIANGLE);
    share(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, mesh.vertices);
    share(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, mesh.triangles);
    attach(geometry, {Part::Kind::mesh, index}, mesh.clear);
  }
  void add_curves(std::size_t index) {
    const StageCurves& curves = stage_.curves[index];
    RTCGeometry geometry = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_ROUND_CATMULL_ROM_CURVE);
    share(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, curves.points);
    share(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT, curves.first);
    attach(geometry, {Part::Kind::curves, index}, curves.clear);
  }

  static RTCRayHit make_query(const V& from, const V& direction, float start) {
    RTCRayHit query{};
    query.ray.org_x = from[0];
    query.ray.org_y = from[1];
    query.ray.org_z = from[2];
    query.ray.dir_x = direction[0];
    query.ray.dir_y = direction[1];
    query.ray.dir_z = direction[2];
    query.ray.tnear = start;
    query.ray.tfar = std::numeric_limits<float>::infinity();
    query.ray.mask = ~0U;
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    return query;
  }

  /// Whether a triangle was hit on its front.
  static bool facing(const RTCRayHit& query) {
    const V normal{{query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z}};
    return dot(normal, {{query.ray.dir_x, query.ray.dir_y, query.ray.dir_z}}) < 0;
  }
  /// Whether the ray has met the back of something that only has a front.
  bool is_back(const RTCRayHit& query) const {
    if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return false;
    const Part& part = solid_parts_[query.hit.geomID];
    return part.kind == Part::Kind::mesh && stage_.meshes[part.index].one_sided && !facing(query);
  }
  /// Where to go on along the ray.
  float beyond(const RTCRayHit& query) const { return query.ray.tfar * 1.0001F + 1e-5F * stage_.radius; }

  static float distance_to(const StagePlane& plane, const V& from, const V& direction) {
    const float approach = dot(plane.normal, direction);
    if (!(approach < 0)) return std::numeric_limits<float>::infinity();
    const float t = (plane.offset - dot(plane.normal, from)) / approach;
    return t > 0 ? t : std::numeric_limits<float>::infinity();
  }

  /// Brighter or darker by chance, the same in every frame.
  static V varied(const Surface& surface, const V& color, std::uint32_t id) {
    if (!(surface.variation > 0)) return color;
    const float brightness = 1 + surface.variation * (2 * unit_interval(mixed(id, 77)) - 1);
    return brightness * color;
  }

  Hit described(const RTCRayHit& query, const Part& part) const {
    const V direction{{query.ray.dir_x, query.ray.dir_y, query.ray.dir_z}};
    Hit hit;
    hit.t = query.ray.tfar;
    hit.face = unit({{query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z}});
    hit.normal = hit.face;
    const std::uint32_t primitive = query.hit.primID;
    switch (part.kind) {
      case Part::Kind::spheres: {
        const StageSpheres& spheres = stage_.spheres;
        hit.surface = &stage_.surfaces[spheres.surface[primitive]];
        hit.color = spheres.scale.empty() ? varied(*hit.surface, hit.surface->color, spheres.id[primitive])
                                          : scale_color(spheres.scale[primitive]);
        hit.skin = 1e-3F * spheres.centers[primitive][3];
        break;
      }
      case Part::Kind::mesh: {
        const StageMesh& mesh = stage_.meshes[part.index];
        const Vec<std::uint32_t, 3>& corners = mesh.triangles[primitive];
        const float u = query.hit.u, v = query.hit.v;
        hit.normal =
            unit((1 - u - v) * mesh.normals[corners[0]] + u * mesh.normals[corners[1]] + v * mesh.normals[corners[2]]);
        hit.surface = &stage_.surfaces[mesh.surface];
        hit.color = hit.surface->color;
        hit.skin = 1e-5F * stage_.radius;
        break;
      }
      case Part::Kind::curves: {
        const StageCurves& curves = stage_.curves[part.index];
        hit.surface = &stage_.surfaces[curves.surface];
        hit.color = varied(*hit.surface, hit.surface->color, curves.strand[primitive]);
        hit.skin = 1e-2F * curves.points[curves.first[primitive]][3];
        if (curves.fiber) describe_fiber(curves, primitive, query.hit.u, hit);
        break;
      }
    }
    if (dot(hit.face, direction) > 0) hit.face = -hit.face;
    if (dot(hit.normal, hit.face) < 0) hit.normal = -hit.normal;
    // Seen from where the true surface faces away, an averaged normal must still face the ray; it may also vanish.
    if (!(dot(hit.normal, direction) < 0)) hit.normal = hit.face;
    return hit;
  }

  /// Direction and radius at a place of a Catmull-Rom segment.
  static void describe_fiber(const StageCurves& curves, std::uint32_t primitive, float u, Hit& hit) {
    V p[4];
    float r[4];
    for (std::uint32_t i = 0; i < 4; ++i) {
      const Vec<float, 4>& point = curves.points[curves.first[primitive] + i];
      p[i] = {{point[0], point[1], point[2]}};
      r[i] = point[3];
    }
    hit.fiber = true;
    hit.tangent = unit(p[2] - p[0] + 2 * u * (2.0F * p[0] - 5.0F * p[1] + 4.0F * p[2] - p[3]) +
                       3 * u * u * (3.0F * (p[1] - p[2]) + p[3] - p[0]));
    hit.radius = (1 - u) * r[1] + u * r[2];
  }

  const Stage& stage_;
  DeviceHandle device_;
  SceneHandle solid_, clear_;
  std::vector<Part> solid_parts_, clear_parts_;
  bool translucent_ = false;  ///< whether anything that throws shadows is
};

/// Lambert under a GGX coat: for a light direction, radiance out per radiance in, times the cosine.
struct Material {
  V diffuse;
  V reflectance;  ///< at normal incidence
  float alpha;    ///< GGX width

  explicit Material(const World::Hit& hit) {
    const float metallic = hit.surface->metallic;
    diffuse = (1 - metallic) * hit.color;
    reflectance = mix(V::filled(0.04F), hit.color, metallic);
    alpha = std::max(0.02F, hit.surface->roughness * hit.surface->roughness);
  }
  V fresnel(float cosine) const {
    const float m = 1 - cosine, m2 = m * m;
    // Rough coats do not turn to mirrors at grazing angles.
    return mix(reflectance, V::filled(std::max(1 - alpha, largest(reflectance))), m2 * m2 * m);
  }
  static float smith(float cosine, float alpha2) {
    return 2 * cosine / (cosine + std::sqrt(alpha2 + (1 - alpha2) * cosine * cosine));
  }
  V response(const V& normal, const V& to_eye, const V& to_light) const {
    const float nl = dot(normal, to_light), nv = std::max(dot(normal, to_eye), 1e-3F);
    if (!(nl > 0)) return V::zero();
    const V half = unit(to_eye + to_light);
    const float nh = std::max(dot(normal, half), 0.0F), a2 = alpha * alpha;
    const float d = nh * nh * (a2 - 1) + 1;
    const float distribution = a2 / (pi * d * d);
    const float specular = distribution * smith(nl, a2) * smith(nv, a2) / (4 * nl * nv);
    return nl * ((1 / pi) * diffuse + specular * fresnel(std::max(dot(half, to_light), 0.0F)));
  }
};

/// Light that a fiber scatters (Marschner 2003, in the closed form of Karis 2016): reflected at its surface (R), gone
/// through it (TT), and reflected at its back (TRT), each narrow about a cone around the fiber that leans a little
/// toward the root. What goes from fiber to fiber is as from a matte cylinder, some of it through. Radiance out per
/// radiance in, times the cosine, as Material has it.
struct Fiber {
  V color;
  V tangent;    ///< from the root
  float width;  ///< of the reflection, in radians of the angle to the cross-section

  explicit Fiber(const World::Hit& hit)
      : color(hit.color), tangent(hit.tangent), width(0.06F + 0.25F * hit.surface->roughness) {}

  static float bell(float x, float sigma) {
    return std::exp(-0.5F * x * x / (sigma * sigma)) / (sigma * std::sqrt(2 * pi));
  }
  /// The color of light that has gone through so much of the fiber.
  V filtered(float amount) const {
    V out;
    for (int k = 0; k < 3; ++k) out[k] = std::pow(std::clamp(color[k], 0.001F, 1.0F), amount);
    return out;
  }
  V response(const V& to_eye, const V& to_light) const {
    constexpr float tilt = 3 * pi / 180;
    const float sin_eye = std::clamp(dot(tangent, to_eye), -1.0F, 1.0F);
    const float sin_light = std::clamp(dot(tangent, to_light), -1.0F, 1.0F);
    const float angle_eye = std::asin(sin_eye), angle_light = std::asin(sin_light);
    const float cos_light = std::cos(angle_light);
    const float cos_half = std::max(std::cos(0.5F * (angle_eye - angle_light)), 0.05F);
    // Between both around the fiber.
    const V around_eye = unit(to_eye - sin_eye * tangent), around_light = unit(to_light - sin_light * tangent);
    const float cos_around = std::clamp(dot(around_eye, around_light), -1.0F, 1.0F);
    const float around = std::acos(cos_around), cos_half_around = std::sqrt(0.5F + 0.5F * cos_around);
    const float m = 1 - cos_half * cos_half_around;
    const float fresnel = 0.046F + 0.954F * m * m * m * m * m;
    const float mean = 0.5F * (angle_eye + angle_light);
    V out = V::filled(bell(mean - tilt, width) * 0.25F * cos_half_around * fresnel);
    out += (bell(mean + 0.5F * tilt, 0.5F * width) * std::exp(-3.65F * cos_around - 3.98F) * (1 - fresnel)) *
           filtered(0.5F / cos_half);
    out +=
        (bell(mean + 1.5F * tilt, 2 * width) * std::exp(17 * cos_around - 16.78F) * 0.1F) * filtered(0.8F / cos_half);
    // A matte cylinder, averaged over its width, is as bright as (sin a + (pi - a) cos a) / 4.
    const float matte = 0.25F * (std::sin(around) + (pi - around) * cos_around);
    out += ((0.75F * matte + 0.15F) / pi) * color;
    return cos_light * out;
  }
};

/// Compresses highlights without shifting hues (the Khronos group's "PBR neutral" tone mapping).
V tone_mapped(V color) {
  constexpr float start = 0.8F - 0.04F, desaturation = 0.15F;
  const float least = std::min({color[0], color[1], color[2]});
  const float offset = least < 0.08F ? least - 6.25F * least * least : 0.04F;
  color = color - V::filled(offset);
  const float peak = largest(color);
  if (peak < start) return color;
  const float d = 1 - start;
  const float new_peak = 1 - d * d / (peak + d - start);
  color = (new_peak / peak) * color;
  const float g = 1 - 1 / (desaturation * (peak - new_peak) + 1);
  return mix(color, V::filled(new_peak), g);
}

class Tracer {
 public:
  Tracer(const Stage& stage, const Camera& camera, const TraceOptions& options)
      : stage_(stage), options_(options), world_(stage), from_(cast<float>(camera.from - stage.origin)) {
    forward_ = cast<float>(camera.forward);
    right_ = cast<float>(camera.right * (camera.tan_half_fov * options.width / options.height));
    up_ = cast<float>(camera.up * camera.tan_half_fov);
    sky_.up = stage.up;
    sky_.sun = cast<float>(options.sun);
    sky_.cos_sun_radius = static_cast<float>(std::cos(options.sun_diameter / 2 * std::numbers::pi / 180));
  }

  std::optional<Picture> picture() {
    Picture result{options_.width, options_.height, {}};
    result.rgb.resize(3 * static_cast<std::size_t>(options_.width) * static_cast<std::size_t>(options_.height));
    constexpr int tile = 16;
    std::atomic<std::int64_t> done{0};
    std::mutex reporting;
    tbb::parallel_for(
        tbb::blocked_range2d<int>(0, options_.height, tile, 0, options_.width, tile),
        [&](const tbb::blocked_range2d<int>& range) {
          if (stopped()) return;
          for (int y = range.rows().begin(); y < range.rows().end(); ++y)
            for (int x = range.cols().begin(); x < range.cols().end(); ++x) draw_pixel(x, y, result);
          done += static_cast<std::int64_t>(range.rows().size()) * static_cast<std::int64_t>(range.cols().size());
          if (options_.on_progress && reporting.try_lock()) {
            const double all = static_cast<double>(options_.width) * options_.height;
            if (done < all) options_.on_progress(static_cast<double>(done) / all);  // the end is the caller's to tell
            reporting.unlock();
          }
        },
        tbb::simple_partitioner());
    if (stopped()) return {};
    return result;
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  void draw_pixel(int x, int y, Picture& picture) const {
    const auto index = static_cast<std::uint32_t>(y * options_.width + x);
    V sum = V::zero();
    for (int s = 0; s < options_.samples; ++s) {
      Sampler sampler(index, static_cast<std::uint32_t>(s));
      const auto u = sampler.next();
      const float px = 2 * (static_cast<float>(x) + 0.5F + tent(u[0])) / static_cast<float>(options_.width) - 1;
      const float py = 1 - 2 * (static_cast<float>(y) + 0.5F + tent(u[1])) / static_cast<float>(options_.height);
      sum += light_along(unit(forward_ + px * right_ + py * up_), sampler);
    }
    const V color =
        tone_mapped((0.62F * static_cast<float>(options_.exposure) / static_cast<float>(options_.samples)) * sum);
    for (int k = 0; k < 3; ++k) {
      const float value = 255 * to_srgb(std::fmax(color[k], 0.0F));  // fmax: no number counts as black
      const float dither = unit_interval(mixed(index, 101 + static_cast<std::uint32_t>(k)));  // against banding
      picture.rgb[3 * static_cast<std::size_t>(index) + static_cast<std::size_t>(k)] =
          static_cast<std::uint8_t>(std::clamp(value + dither, 0.0F, 255.0F));
    }
  }

  /// Samples of a filter that reaches one pixel far.
  static float tent(float u) { return u < 0.5F ? std::sqrt(2 * u) - 1 : 1 - std::sqrt(2 - 2 * u); }

  V light_along(V direction, Sampler& sampler) const {
    constexpr int bounces = 2;
    V light = V::zero(), throughput = V::filled(1);
    V from = from_;
    int passed = 0;
    for (int depth = 0; depth <= bounces;) {
      const World::Hit hit = world_.nearest(from, direction, depth == 0);
      if (!hit) {
        light += product(throughput, depth == 0 ? sky_.backdrop(direction) : sky_.radiance(direction));
        break;
      }
      const V point = from + hit.t * direction;
      if (hit.surface->opacity < 1 && passed < most_layers) {
        if (sampler.next()[0] >= hit.surface->opacity) {
          from = point - hit.skin * hit.face;
          ++passed;
          continue;
        }
      }
      if (hit.plane && depth == 0) {  // the ground fades into the backdrop
        const float haze = smooth_step(2.5F, 14, std::sqrt(squared_norm(point)) / stage_.radius);
        light += haze * product(throughput, sky_.backdrop(direction));
        throughput = (1 - haze) * throughput;
        if (haze >= 1) break;
      }
      const Material material(hit);
      const V start = point + hit.skin * hit.face;
      const auto u = sampler.next();
      const auto w = sampler.next();

      const V to_sun = cone_direction(sky_.sun, sky_.cos_sun_radius, u[0], u[1]);
      if (hit.fiber) {
        // Light may come from behind: look for it from the side of the fiber that faces it.
        const V toward = unit(to_sun - dot(to_sun, hit.tangent) * hit.tangent);
        const V lit = point + hit.radius * (1.05F * toward - hit.face);
        if (world_.open(lit, to_sun, w[3])) {
          const V received = product(sky_.sun_irradiance, Fiber(hit).response(-direction, to_sun));
          light += product(throughput, limited(received, depth));
        }
      } else if (dot(to_sun, hit.face) > 0 && dot(to_sun, hit.normal) > 0 && world_.open(start, to_sun, w[3])) {
        const V received = product(sky_.sun_irradiance, material.response(hit.normal, -direction, to_sun));
        light += product(throughput, limited(received, depth));
      }
      if (depth == bounces) {
        light += 0.25F * product(throughput, product(material.diffuse, sky_.radiance(hit.normal)));  // what is left out
        break;
      }
      if (!scatter(hit, material, u[2], u[3], w[0], direction, throughput)) break;
      from = start;
      ++depth;
    }
    return light;
  }

  /// Very bright, rare light paths would show as specks.
  static V limited(const V& light, int depth) {
    const float peak = largest(light), most = depth == 0 ? 20.0F : 4.0F;
    return peak > most ? (most / peak) * light : light;
  }

  /// Goes on in a direction chosen by the coat or the body of the material. False when the path ends.
  bool scatter(const World::Hit& hit, const Material& material, float u, float v, float choice, V& direction,
               V& throughput) const {
    if (hit.fiber) {
      throughput = product(throughput, hit.color);
      direction = cosine_direction(hit.normal, u, v);
      return dot(direction, hit.face) > 0;
    }
    const V to_eye = -direction;
    const V reflection = material.fresnel(std::max(dot(hit.normal, to_eye), 0.0F));
    const float coat = (reflection[0] + reflection[1] + reflection[2]) / 3;
    const float body = (material.diffuse[0] + material.diffuse[1] + material.diffuse[2]) / 3 * (1 - coat);
    if (!(coat + body > 0)) return false;
    const float share = coat / (coat + body);
    if (choice < share) {
      // A normal of the GGX coat, then a mirror about it; weights other than Fresnel's are near 1.
      const float a2 = material.alpha * material.alpha;
      const float cosine = std::sqrt((1 - u) / (1 + (a2 - 1) * u));
      const V half = cone_edge(hit.normal, cosine, v);
      direction = 2 * dot(to_eye, half) * half - to_eye;
      throughput = product(throughput, (1 / share) * reflection);
    } else {
      direction = cosine_direction(hit.normal, u, v);
      throughput = product(throughput, ((1 - coat) / (1 - share)) * material.diffuse);
    }
    return dot(direction, hit.face) > 0;
  }

  static V cone_edge(const V& axis, float cosine, float turn) {
    V t, b;
    complete_frame(axis, t, b);
    const float sine = std::sqrt(std::fmax(0.0F, 1 - cosine * cosine));
    return sine * std::cos(2 * pi * turn) * t + sine * std::sin(2 * pi * turn) * b + cosine * axis;
  }

  const Stage& stage_;
  const TraceOptions& options_;
  World world_;
  V from_, forward_, right_, up_;
  Sky sky_;
};

}  // namespace

bool can_render() { return true; }

std::optional<Picture> trace(const Stage& stage, const Camera& camera, const TraceOptions& options) {
  return Tracer(stage, camera, options).picture();
}

}  // namespace tribo
