import { Command, InvalidArgumentError } from 'commander'

/** What can be asked of every benchmark. */
export interface BenchOptions { json?: boolean, check?: boolean }

/** The command line of a benchmark: it tells of itself when asked for `--help`, and refuses what it does not know. */
export function createBench (name: string, description: string): Command {
  return new Command(`npm run bench:${name} --`).description(description)
    .option('--json', 'print one JSON object per line')
    .option('--check', 'exit with 2 when a target was missed')
}

/** Which rows are to be measured. */
export function readPattern (text: string): RegExp {
  try {
    return new RegExp(text)
  } catch {
    throw new InvalidArgumentError('Give a regular expression.')
  }
}
