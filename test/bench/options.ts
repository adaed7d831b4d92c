import { Command, InvalidArgumentError, Option } from 'commander'

/** What can be asked of every benchmark. */
export interface BenchOptions { json?: boolean, check?: boolean }

/** The command line of a benchmark: it tells of itself when asked for `--help`, and refuses what it does not know. */
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

/** Has some of the rows measured, by a pattern of their names. */
export const onlyRows = (description: string): Option =>
  new Option('--only <pattern>', description).argParser(readPattern).default(/(?:)/, 'all')
