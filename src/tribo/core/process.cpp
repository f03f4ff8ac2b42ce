#include "tribo/core/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "tribo/core/errors.h"

extern char** environ;

namespace tribo {
namespace {

constexpr std::size_t kept_output = 1 << 16;  // bytes

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

DeviceError cannot_start(const std::string& program, int error_number) {
  return DeviceError("cannot start " + program + ": " + std::generic_category().message(error_number));
}

/// Where SIGCHLD is ignored (which a process may inherit), the kernel forgets how children ended.
class KeepExitStatus {
 public:
  KeepExitStatus() : former_(std::signal(SIGCHLD, SIG_DFL)) {}
  ~KeepExitStatus() {
    if (former_ != SIG_ERR) std::signal(SIGCHLD, former_);
  }
  KeepExitStatus(const KeepExitStatus&) = delete;
  KeepExitStatus& operator=(const KeepExitStatus&) = delete;

 private:
  void (*former_)(int);
};

/// Standard streams, signals and mask of the child.
class SpawnSettings {
 public:
  explicit SpawnSettings(int output) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// Reads until every writer has closed the pipe; keeps the end. Needs no memory beyond what `output` has reserved.
void read_tail(int fd, std::string& output) {
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (output.size() + chunk.size() > output.capacity()) output.erase(0, output.size() - kept_output);
    output.append(chunk.data(), static_cast<std::size_t>(n));
  }
  if (output.size() > kept_output) output.erase(0, output.size() - kept_output);
}

}  // namespace

std::string ProcessResult::last_line() const {
  constexpr const char* blanks = " \t\r\n";
  const std::size_t end = output.find_last_not_of(blanks);
  if (end == std::string::npos) return "";
  const std::size_t before = output.find_last_of("\r\n", end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return output.substr(begin, end + 1 - begin);
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return is_executable_file(name) ? std::optional(name) : std::nullopt;
  const char* const variable = std::getenv("PATH");
  const std::string folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = end > begin ? folders.substr(begin, end - begin) : ".";  // POSIX: empty means here
    const std::string path = folder + "/" + name;
    if (is_executable_file(path)) return path;
    begin = end + 1;
  }
  return {};
}

ProcessResult run_program(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw cannot_start("a program without a name", EINVAL);
  const std::optional<std::string> program = find_program(arguments[0]);
  if (!program) throw cannot_start(arguments[0], ENOENT);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  ProcessResult result;
  result.output.reserve(2 * kept_output);
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw cannot_start(*program, errno);
  const KeepExitStatus keep_exit_status;
  pid_t child = 0;
  const int error = [&] {
    const SpawnSettings settings(ends[1]);
    return ::posix_spawn(&child, program->c_str(), &settings.actions, &settings.attributes, argv.data(), environ);
  }();
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    throw cannot_start(*program, error);
  }
  read_tail(ends[0], result.output);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw DeviceError("cannot tell how " + *program + " ended");
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace tribo
