import { explainError } from '../cli/explain-error.ts'
import { createProgram } from '../cli/program.ts'
import { VERSION } from '../version.ts'
import { features } from '../../plugins/index.ts'

// A reader such as `head` closes the pipe when it has enough, which is no failure.
process.stdout.on('error', (err: NodeJS.ErrnoException) => {
  if (err.code !== 'EPIPE') throw err
  process.exit()
})

/** The time in which a failed command may close what it opened. */
const CLOSE_MS = 5_000

try {
  await (await createProgram(VERSION, features)).parseAsync()
} catch (err) {
  process.exitCode = explainError(err)
  // A start that failed halfway may leave a timer, which would keep a process alive that does nothing.
  setTimeout(() => { process.exit() }, CLOSE_MS).unref()
}
