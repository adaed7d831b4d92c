import { CommanderError } from 'commander'
import { ApiError, StartError } from '../errors.ts'

/** Exit codes: 0 success, 1 failure, 2 wrong usage, 75 may work later (EX_TEMPFAIL of sysexits.h). */
const FAILURE = 1
const USAGE = 2
const TEMPORARY = 75

const printLine = (text: string) => { process.stderr.write(`svc: ${text}\n`) }

/** Prints an error and returns its exit code: expected failures in one line, bugs with all details for a report. */
export function explainError (err: unknown): number {
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
