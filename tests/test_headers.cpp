// Nothing: tests use the headers that are compiled with this.
int main() { return 0; }
