#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tribo/io/frame.h"
#include "tribo/io/writer.h"
#include "tribo/render/camera.h"
#include "tribo/render/colors.h"
#include "tribo/render/picture.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// Throws DeviceError with the remedy when this build cannot draw.
void require_renderer();
/// The same, and SceneError when pictures of the scene can only be drawn once it has been simulated.
void require_renderer_while_simulating(const Scene& scene);

/// Draws frames of a scene as its `render` block says, all with one camera and one color scale.
class Renderer {
 public:
  /// `motion`: where objects are in all the frames. `values`: of what particles are colored by, in all the frames.
  Renderer(const Scene& scene, const ViewBounds& motion, const ValueRange& values);

  const Coloring& coloring() const { return coloring_; }

  struct Request {
    double turn = 0;                                ///< of the camera about the vertical [deg]
    bool turntable = false;                         ///< other turns follow: stay far enough away for all of them
    std::function<void(double share)> on_progress;  ///< from any thread, one at a time
    const std::atomic<bool>* stop = nullptr;
  };
  /// Nothing when stopped on request.
  std::optional<Picture> draw(const Frame& frame, const Request& request) const;

 private:
  const Scene& scene_;
  ViewBounds shown_;
  Coloring coloring_;
};

/// What a picture file says of itself.
std::vector<std::pair<std::string, std::string>> picture_texts(const Scene& scene, const Frame& frame);

/// Makes a movie of `count` pictures in a folder, named `prefix` and six digits that go up from `first`, with the
/// program ffmpeg. Throws DeviceError when that is not there, IoError when it fails; the pictures stay.
struct MovieSource {
  std::string folder;
  std::string prefix;
  int first = 0;
  std::size_t count = 0;
};
void write_movie(const std::string& path, const MovieSource& source, double fps);

/// Removes what the writer below has written for later frames, and its movie.
void remove_pictures_after(const std::string& directory, const std::string& scene_name, int frame);

/// Writes a picture of each frame into `directory` while the scene is simulated, and in the end a movie when ffmpeg is
/// there. What it cannot do it notes. The camera sees what can be expected of the motion beforehand.
std::unique_ptr<FrameWriter> open_picture_writer(const std::string& directory, const Scene& scene,
                                                 const std::atomic<bool>* stop,
                                                 std::function<void(const std::string&)> on_note);

}  // namespace tribo
