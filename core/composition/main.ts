import { CommanderError } from 'commander'
import { createProgram } from '../cli/program.ts'
import { ApiError, StartError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { features } from '../../plugins/index.ts'

/** Exit codes: 0 success, 1 failure, 2 wrong usage, 75 may work later (EX_TEMPFAIL of sysexits.h). */
const FAILURE = 1
const USAGE = 2
const TEMPORARY = 75

const printLine = (text: string) => { process.stderr.write(`svc: ${text}\n`) }

/** Prints an error and returns its exit code: expected failures in one line, bugs with all details for a report. */
function explain (err: unknown): number {
  // The parser has printed it already.
  if (err instanceof CommanderError) return err.exitCode === 0 ? 0 : USAGE
  if (err instanceof StartError) {
    printLine(err.message)
    return err.exitCode
  }
  if (err instanceof ApiError) {
    printLine(err.message)
    return err.code === 'CONFLICT' || err.code === 'UNAVAILABLE' ? TEMPORARY : FAILURE
  }
  printLine(`this is a bug; please report it with what follows\n${err instanceof Error ? err.stack ?? err.message : String(err)}`)
  return FAILURE
}

// A reader such as `head` closes the pipe when it has enough, which is no failure.
process.stdout.on('error', (err: NodeJS.ErrnoException) => {
  if (err.code !== 'EPIPE') throw err
  process.exit()
})

try {
  await createProgram(VERSION, features).parseAsync()
} catch (err) {
  process.exitCode = explain(err)
}
