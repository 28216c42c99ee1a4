// Made only so that the headers of the tests are precompiled; see CMakeLists.txt.
int main() {}
