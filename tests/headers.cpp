// Exists only so that the tests' headers are precompiled; see CMakeLists.txt.
int main() {}
