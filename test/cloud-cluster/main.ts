import { cloudCluster } from './objects.ts';

/** Writes the example cluster as JSON to standard output. Run with `npm run --silent example-cluster -- 300`. */
const [count = '300'] = process.argv.slice(2);
if (!/^[1-9]\d{0,3}$/.test(count)) {
  console.error(`example-cluster: ${count} is not a number of nodes: write a whole number from 1 to 9999`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${JSON.stringify(cloudCluster(Number(count)))}\n`);
}
