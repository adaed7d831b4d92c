import { CommanderError } from 'commander'
import { explainStartError } from '../database/errors.ts'
import { ApiError, EXIT_CODES, StartError } from '../errors.ts'

const printLine = (text: string) => { process.stderr.write(`svc: ${text}\n`) }

/** Prints an error and returns its exit code: expected failures in one line, bugs with all details for a report. */
export function explainError (thrown: unknown): number {
  const err = explainStartError(thrown)
  // The parser has printed it already.
  if (err instanceof CommanderError) return err.exitCode === 0 ? 0 : EXIT_CODES.usage
  if (err instanceof StartError) {
    printLine(err.message)
    return err.exitCode
  }
  if (err instanceof ApiError) {
    printLine(err.message)
    return err.code === 'CONFLICT' || err.code === 'UNAVAILABLE' ? EXIT_CODES.temporary : EXIT_CODES.failure
  }
  printLine(`this is a bug; please report it with what follows\n${err instanceof Error ? err.stack ?? err.message : String(err)}`)
  return EXIT_CODES.failure
}
