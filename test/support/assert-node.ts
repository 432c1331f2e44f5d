const [major = 0] = process.versions.node.split('.').map(Number);

if (major < 24) {
  throw new Error(
    `tests need Node 24 but run on ${process.version}: start them with npm test, which brings its own Node`,
  );
}
