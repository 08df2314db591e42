#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proxy/control/state_file.h"

namespace ringway::proxy {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test.
class StateFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/ringway-state-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = pattern + "/state.yaml";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::unique_ptr<StateFile> Open(const std::string& path) {
    auto file = StateFile::Open(path);
    EXPECT_TRUE(file.ok()) << file.problems().front().ToString();
    return file.ok() ? std::move(file).value() : nullptr;
  }

  static std::string WhyNot(const std::string& path) {
    const auto file = StateFile::Open(path);
    EXPECT_FALSE(file.ok());
    return file.ok() ? "" : file.problems().front().ToString();
  }

  static std::string LoadProblem(const StateFile& file) {
    const auto loaded = file.Load();
    EXPECT_FALSE(loaded.ok());
    return loaded.ok() ? "" : loaded.problems().front().ToString();
  }

  static SavedState State(uint64_t next_move_id) {
    SavedState state;
    state.proxy_id = state.run_id = std::string(40, 'a');
    state.shards = state.configured = {{"a", "h:1", 1}};
    state.next_move_id = next_move_id;
    return state;
  }

  void Write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string Content() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(StateFileTest, WhatIsSavedIsLostWithTheProcess) {
  {
    const auto file = Open(path_);
    const auto nothing = file->Load();
    ASSERT_TRUE(nothing.ok());
    EXPECT_FALSE(nothing.value().has_value());
    EXPECT_EQ(file->Save(State(7)), "");
    EXPECT_EQ(file->Save(State(8)), "");
  }
  const auto loaded = Open(path_)->Load();
  ASSERT_TRUE(loaded.ok());
  ASSERT_TRUE(loaded.value().has_value());
  EXPECT_EQ(loaded.value()->next_move_id, 8u);
  // Nothing is left beside the state and its lock.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(StateFileTest, SecondProxyOfTheSameStateIsLetIn) {
  auto first = Open(path_);
  const std::string pid = std::to_string(::getpid());
  EXPECT_EQ(WhyNot(path_), "state_file: " + path_ + ": in use by the proxy with process id " + pid +
                               ", and each proxy needs a file of its own");
  Open(folder_ / "another.yaml");
  first.reset();
  EXPECT_NE(Open(path_), nullptr);
}

TEST_F(StateFileTest, FailedSaveDamagesWhatWasThere) {
  const auto file = Open(path_);
  ASSERT_EQ(file->Save(State(7)), "");
  const std::string before = Content();
  fs::create_directory(path_ + ".new");
  EXPECT_EQ(file->Save(State(8)),
            "state_file " + path_ + " cannot be saved: making " + path_ + ".new: Is a directory");
  EXPECT_EQ(Content(), before);
  fs::remove(path_ + ".new");
  EXPECT_EQ(file->Save(State(8)), "");
}

TEST_F(StateFileTest, DiskThatIsFullIsNotNoticed) {
  const auto file = Open(path_);
  ASSERT_EQ(file->Save(State(7)), "");
  const std::string before = Content();
  struct rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const struct rlimit full = {64, limit.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const std::string problem = file->Save(State(8));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(problem, "state_file " + path_ + " cannot be saved: writing " + path_ + ".new: File too large");
  EXPECT_EQ(Content(), before);
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

TEST_F(StateFileTest, FolderThatIsNotThereIsNotNamed) {
  const std::string path = folder_ / "none" / "state.yaml";
  EXPECT_EQ(WhyNot(path),
            "state_file: " + path + ": its lock " + path + ".lock cannot be made: No such file or directory");
  const auto file = Open(path_);
  fs::remove_all(folder_);
  EXPECT_EQ(file->Save(State(1)),
            "state_file " + path_ + " cannot be saved: making " + path_ + ".new: No such file or directory");
}

TEST_F(StateFileTest, BrokenOrForeignFileIsLoadedOrReplaced) {
  const auto file = Open(path_);
  Write("shards:\n- {name: a, address: 'h:1'}\n");
  EXPECT_EQ(LoadProblem(*file), path_ + ":1: no state of a proxy, which begins with ringway_state: 1");
  const std::string whole = WriteState(State(7));
  Write(whole.substr(0, whole.size() - 10));
  EXPECT_NE(LoadProblem(*file).find("the file is cut short"), std::string::npos);
  Write("");
  LoadProblem(*file);
  EXPECT_EQ(Content(), "");
  Write(std::string(StateFile::kMaxBytes + 1, ' '));
  EXPECT_EQ(LoadProblem(*file), path_ + ": no state of a proxy: expected at most 33554432 bytes");
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_EQ(LoadProblem(*file), "state_file: " + path_ + " cannot be read: Is a directory");
}

TEST_F(StateFileTest, ProxyWithoutAStateFileWritesOne) {
  const auto file = Open("");
  EXPECT_FALSE(file->is_kept());
  EXPECT_EQ(file->Save(State(7)), "");
  ASSERT_TRUE(file->Load().ok());
  EXPECT_FALSE(file->Load().value().has_value());
  EXPECT_FALSE(fs::exists(".new"));
  EXPECT_FALSE(fs::exists(".lock"));
}

}  // namespace
}  // namespace ringway::proxy
