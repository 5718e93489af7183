#include "profile/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "profile/catalogue.h"

namespace lanescope::profile {
namespace {

Profile small_profile() {
    Profile profile;
    profile.backend = "emulated";
    profile.gpu_name = "h200";
    profile.gpu_json = R"({"sms":132,"l2":{"bytes":62914560}})";
    profile.argv = {"./a.out", "two words", "quote\" back\\slash"};
    profile.settings = {{"caches", "cold"}};
    Launch launch;
    launch.index = 0;
    launch.kernel = "copy(const float*, float*)";
    launch.symbol = "_Z4copyPKfPf";
    launch.grid[0] = 4096;
    launch.block[0] = 256;
    launch.metrics = {{"smsp__inst_executed.sum", 720896}, {"gpu__time_duration.sum", 5216.25}, {"big", 9007199254740991.0}};
    Line line;
    line.file = "copy.cu";
    line.line = 28;
    line.function = "index";
    line.inlined_from = {{"copy.cu", 40, "copy"}};
    Access access;
    access.space = "global";
    access.operation = "load";
    access.bytes = 4;
    access.instruction = 3;
    access.pattern = "coalesced";
    access.metrics = {{"requests", 32768}, {"sectors", 131072}, {"ideal_sectors", 131072}};
    access.example = ExampleWarp{7, 1, 0xffffffffu, std::vector<uint64_t>(32, 0x7f0000000000u)};
    line.accesses = {access};
    launch.lines = {line, Line{}};
    launch.notes = {"spills are not modelled"};
    launch.absent = {{"dram__bytes_read.sum", "counts only"}};
    profile.launches = {launch};
    profile.transfers = {{"host_to_device", "pageable", 4194304, 0, 0, 712.5}};
    profile.faults = {{"out_of_bounds", "reads 4 bytes behind 'a'", false, 0, {{"copy.cu", 28, ""}}, {{"distance", -4}}}};
    profile.sources = {{"copy.cu", {"int main() {", "\treturn 0;", "}"}}};
    return profile;
}

std::string message(std::string_view json) {
    const auto result = from_json(json, "p.json");
    return result.ok() ? "accepted" : base::to_string(result.errors());
}

/// small_profile's JSON with one piece of text replaced.
std::string changed(std::string_view from, std::string_view to) {
    std::string json = to_json(small_profile());
    const size_t at = json.find(from);
    if (at == std::string::npos) return "the test looks for text that is not there";
    return json.replace(at, from.size(), to);
}

TEST(Json, ReadsBackWhatItWrites) {
    const std::string json = to_json(small_profile());
    const auto back = from_json(json, "p.json");
    ASSERT_TRUE(back.ok()) << base::to_string(back.errors());
    EXPECT_EQ(to_json(*back), json);
    EXPECT_EQ(back->argv[2], "quote\" back\\slash");
    EXPECT_EQ(back->launches[0].metrics.at("gpu__time_duration.sum"), 5216.25);
    EXPECT_EQ(back->launches[0].lines[0].accesses[0].example->addresses[31], 0x7f0000000000u);
    EXPECT_EQ(back->launches[0].lines[0].inlined_from[0].function, "copy");
    EXPECT_EQ(back->faults[0].numbers.at("distance"), -4);
    EXPECT_EQ(back->sources.at("copy.cu")[1], "\treturn 0;");
}

TEST(Json, PiecesReadBackAndStandOnOneTextLine) {
    const Profile profile = small_profile();
    const std::string launch = to_json(profile.launches[0]);
    EXPECT_EQ(launch.find('\n'), std::string::npos);
    EXPECT_EQ(to_json(*launch_from_json(launch, "j")), launch);
    EXPECT_EQ(to_json(*transfer_from_json(to_json(profile.transfers[0]), "j")), to_json(profile.transfers[0]));
    EXPECT_EQ(to_json(*fault_from_json(to_json(profile.faults[0]), "j")), to_json(profile.faults[0]));
}

TEST(Json, CountsAreIntegers) {
    const std::string json = to_json(small_profile());
    EXPECT_NE(json.find("\"smsp__inst_executed.sum\": 720896"), std::string::npos);
    EXPECT_NE(json.find("\"big\": 9007199254740991"), std::string::npos);  // 2^53 - 1
    EXPECT_NE(json.find("\"gpu__time_duration.sum\": 5216.25"), std::string::npos);
}

TEST(Json, AccessIsFlat) {
    const auto json = nlohmann::json::parse(to_json(small_profile()));
    const auto& access = json["launches"][0]["lines"][0]["accesses"][0];
    EXPECT_EQ(access["space"], "global");
    EXPECT_EQ(access["op"], "load");
    EXPECT_EQ(access["bytes"], 4);
    EXPECT_EQ(access["requests"], 32768);
    EXPECT_EQ(access["pattern"], "coalesced");
    EXPECT_EQ(json["gpu"]["name"], "h200");
    EXPECT_EQ(json["gpu"]["l2"]["bytes"], 62914560);
}

TEST(Json, HostileTextStaysText) {
    Profile profile = small_profile();
    profile.argv = {"\x1b[2J", "bad \xff utf8", "\xed\xa0\x80", "</script>", std::string("nul\0inside", 10)};
    const auto back = from_json(to_json(profile), "p.json");
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->argv[0], "\x1b[2J");
    EXPECT_EQ(back->argv[1], "bad \xEF\xBF\xBD utf8");
    EXPECT_EQ(back->argv[2], "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a lone surrogate is three bad bytes
    EXPECT_EQ(back->argv[4].size(), 10u);
}

TEST(Json, NamesThePathOfWhatIsWrong) {
    EXPECT_EQ(message("[]"), "p.json: error: the profile: is array, not an object");
    EXPECT_EQ(message("{}"), "p.json: error: the profile: has no \"schema\"");
    EXPECT_EQ(message(R"({"schema": "lanescope-profile/2"})"),
              "p.json: error: schema: is \"lanescope-profile/2\"; this program reads lanescope-profile/1");
    EXPECT_EQ(message(changed("\"grid\": [4096, 1, 1]", "\"grid\": [4096, -1, 1]")),
              "p.json: error: launches[0].grid[1]: is not an integer from 0 to 4294967295");
    EXPECT_EQ(message(changed("\"grid\": [4096, 1, 1]", "\"grid\": [4096, 1]")), "p.json: error: launches[0].grid: does not hold 3 numbers");
    EXPECT_EQ(message(changed("\"space\": \"global\"", "\"space\": \"moon\"")),
              "p.json: error: launches[0].lines[0].accesses[0].space: \"moon\" is not one of global, local, shared, constant, texture, surface, param");
    EXPECT_EQ(message(changed("\"requests\": 32768", "\"requests\": \"many\"")),
              "p.json: error: launches[0].lines[0].accesses[0].requests: is string, not a number");
    EXPECT_EQ(message(changed("\"requests\": 32768", "\"requests\": -1")), "p.json: error: launches[0].lines[0].accesses[0].requests: is negative");
    EXPECT_EQ(message(changed("\"line\": 28", "\"line\": 4294967296")), "p.json: error: launches[0].lines[0].line: is not an integer from 0 to 4294967295");
    EXPECT_EQ(message(changed("\"index\": 0", "\"index\": 0.5")),
              "p.json: error: launches[0].index: is not an integer from 0 to 18446744073709551615");
    EXPECT_EQ(message(changed("\"warning\": false", "\"warning\": 0")), "p.json: error: faults[0].warning: is number, not true or false");
    EXPECT_EQ(message(changed("\"bytes\": 4194304", "\"octets\": 4194304")), "p.json: error: transfers[0]: has no \"bytes\"");
}

TEST(Json, NamesThePlaceOfWhatIsNotJson) {
    EXPECT_EQ(message("{\n  \"schema\": lanescope}").substr(0, 32), "p.json:2:13: error: is not JSON:");
    EXPECT_NE(message("").find("is not JSON"), std::string::npos);
    EXPECT_NE(message(changed("720896", "1e999")).find("is not JSON"), std::string::npos);
    EXPECT_NE(message(changed("copy(const", "copy(\xff" "const")).find("is not JSON"), std::string::npos);
}

TEST(Json, EveryTruncationIsRefused) {
    const std::string json = to_json(small_profile());
    for (size_t length = 0; length + 2 < json.size(); ++length)  // the last byte is a newline, the one before closes the object
        ASSERT_FALSE(from_json(json.substr(0, length), "p.json").ok()) << length;
}

TEST(Json, DeepNestingIsRefused) {
    EXPECT_EQ(message(std::string(1000000, '[')), "p.json: error: nests deeper than 64 levels");
    EXPECT_EQ(message(changed("\"sms\":132", "\"sms\":" + std::string(100, '[') + std::string(100, ']'))), "p.json: error: nests deeper than 64 levels");
}

TEST(Json, UnknownMembersArePassedOver) { EXPECT_TRUE(from_json(changed("\"stream\": 0", "\"later\": {\"x\": []}"), "p.json").ok()); }

TEST(Merge, PassesOverTheSameLaunchesAddMetrics) {
    Profile profile = small_profile(), pass = small_profile();
    pass.launches[0].metrics = {{"dram__bytes_read.sum", 8391424}, {"smsp__inst_executed.sum", 1}};
    pass.launches[0].absent.clear();
    pass.launches[0].lines[0].accesses[0].metrics = {{"tags", 32768}};
    ASSERT_TRUE(merge(profile, pass).ok());
    EXPECT_EQ(profile.launches[0].metrics.at("dram__bytes_read.sum"), 8391424);
    EXPECT_EQ(profile.launches[0].metrics.at("smsp__inst_executed.sum"), 720896) << "the first count stays";
    EXPECT_FALSE(profile.launches[0].absent.contains("dram__bytes_read.sum")) << "now there is a number";
    EXPECT_EQ(profile.launches[0].lines.size(), 2u);
    EXPECT_EQ(profile.launches[0].lines[0].accesses.size(), 1u);
    EXPECT_EQ(profile.launches[0].lines[0].accesses[0].metrics.at("tags"), 32768);
    EXPECT_EQ(profile.launches[0].lines[0].accesses[0].metrics.at("sectors"), 131072);
}

TEST(Merge, RefusesAnotherRun) {
    Profile profile = small_profile(), pass = small_profile();
    pass.launches[0].grid[0] = 1;
    EXPECT_FALSE(merge(profile, pass).ok());
    pass.launches.clear();
    EXPECT_FALSE(merge(profile, pass).ok());
}

TEST(Merge, AppendNumbersLaunchesOn) {
    Profile profile = small_profile();
    append(profile, small_profile());
    ASSERT_EQ(profile.launches.size(), 2u);
    EXPECT_EQ(profile.launches[1].index, 1u);
    EXPECT_EQ(profile.faults[1].launch, 1u);
    EXPECT_EQ(profile.transfers.size(), 2u);
}

// --- docs/profile-schema.json

/// The part of JSON Schema that our schema uses. Returns what is wrong, empty if nothing is.
class SchemaChecker {
public:
    explicit SchemaChecker(const nlohmann::json& root) : root_(root) {}

    std::string check(const nlohmann::json& value) const { return check(root_, value, "$"); }

private:
    using Json = nlohmann::json;
    static bool is_type(const std::string& type, const Json& value) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "integer") return value.is_number_integer();
        return type == "number" && value.is_number();
    }
    std::string check(const Json& schema, const Json& value, const std::string& path) const {
        for (const auto& [keyword, rule] : schema.items()) {
            std::string wrong;
            if (keyword == "$ref") {
                wrong = check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, path);
            } else if (keyword == "type") {
                if (!is_type(rule, value)) wrong = path + " is not " + rule.get<std::string>();
            } else if (keyword == "const") {
                if (value != rule) wrong = path + " is not " + rule.dump();
            } else if (keyword == "enum") {
                if (std::find(rule.begin(), rule.end(), value) == rule.end()) wrong = path + " is not one of " + rule.dump();
            } else if (keyword == "required") {
                for (const Json& name : rule)
                    if (!value.contains(name.get<std::string>())) wrong = path + " lacks " + name.dump();
            } else if (keyword == "minimum") {
                if (value.is_number() && value < rule) wrong = path + " is below " + rule.dump();
            } else if (keyword == "minItems") {
                if (value.size() < rule) wrong = path + " is too short";
            } else if (keyword == "maxItems") {
                if (value.size() > rule) wrong = path + " is too long";
            } else if (keyword == "items") {
                for (size_t i = 0; i < value.size() && wrong.empty(); ++i) wrong = check(rule, value[i], path + "[" + std::to_string(i) + "]");
            } else if (keyword == "properties") {
                for (const auto& [name, member] : rule.items())
                    if (wrong.empty() && value.contains(name)) wrong = check(member, value[name], path + "." + name);
            } else if (keyword == "additionalProperties") {
                for (const auto& [name, member] : value.items())
                    if (wrong.empty() && !(schema.contains("properties") && schema["properties"].contains(name)))
                        wrong = check(rule, member, path + "." + name);
            } else if (keyword != "$schema" && keyword != "$id" && keyword != "title" && keyword != "description" && keyword != "$defs") {
                wrong = "this checker does not know the keyword " + keyword;
            }
            if (!wrong.empty()) return wrong;
        }
        return {};
    }
    const Json& root_;
};

class Schema : public ::testing::Test {
protected:
    const nlohmann::json schema_ = nlohmann::json::parse(base::read_file(LANESCOPE_SOURCE_DIR "/docs/profile-schema.json").value());
    std::string check(const nlohmann::json& value) { return SchemaChecker(schema_).check(value); }
};

TEST_F(Schema, DescribesWhatIsWritten) { EXPECT_EQ(check(nlohmann::json::parse(to_json(small_profile()))), ""); }

TEST_F(Schema, RefusesWhatTheReaderRefuses) {
    const auto wrong = [&](const char* pointer, const nlohmann::json& value) {
        auto json = nlohmann::json::parse(to_json(small_profile()));
        json[nlohmann::json::json_pointer(pointer)] = value;
        EXPECT_FALSE(from_json(json.dump(), "p").ok()) << pointer;
        return check(json);
    };
    EXPECT_EQ(wrong("/schema", "lanescope-profile/2"), "$.schema is not \"lanescope-profile/1\"");
    EXPECT_EQ(wrong("/backend", "guessed"), "$.backend is not one of [\"emulated\",\"hardware\"]");
    EXPECT_EQ(wrong("/launches/0/grid/1", -1), "$.launches[0].grid[1] is below 0");
    EXPECT_EQ(wrong("/launches/0/grid/3", 1), "$.launches[0].grid is too long");
    EXPECT_EQ(wrong("/launches/0/metrics/big", "x"), "$.launches[0].metrics.big is not number");
    EXPECT_EQ(wrong("/launches/0/lines/0/accesses/0/sectors", true), "$.launches[0].lines[0].accesses[0].sectors is not number");
    EXPECT_EQ(wrong("/launches/0/lines/0/inlined_from", {{{"line", 1}}}), "$.launches[0].lines[0].inlined_from[0] lacks \"file\"");
    EXPECT_EQ(wrong("/sources/copy.cu/0", 1), "$.sources.copy.cu[0] is not string");
}

TEST_F(Schema, ListsTheSpacesAndOperationsOfTheCode) {
    EXPECT_EQ(schema_["$defs"]["access"]["properties"]["space"]["enum"], nlohmann::json(kSpaces));
    EXPECT_EQ(schema_["$defs"]["access"]["properties"]["op"]["enum"], nlohmann::json(kOperations));
}

}  // namespace
}  // namespace lanescope::profile
