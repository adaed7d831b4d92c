import { Command, InvalidArgumentError, Option } from 'commander'

/** Options of every benchmark. */
export interface BenchOptions { json?: boolean, check?: boolean }

/** Creates the command line of a benchmark, with `--help`. It refuses unknown options. */
export function createBench (name: string, description: string): Command {
  return new Command(`npm run bench:${name} --`).description(description)
    .option('--json', 'print one JSON object per line')
    .option('--check', 'exit with 2 when a target was missed')
}

function readPattern (text: string): RegExp {
  try {
    return new RegExp(text)
  } catch {
    throw new InvalidArgumentError('Give a regular expression.')
  }
}

/** Selects the rows to measure, by a pattern of their names. */
export const onlyRows = (description: string): Option =>
  new Option('--only <pattern>', description).argParser(readPattern).default(/(?:)/, 'all')
