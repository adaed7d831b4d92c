import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { ApiError } from '../../core/errors.ts'
import { CHD_HEADER_BYTES, type ChdHeader, parseChdHeader } from '../hashing/chd-header.ts'

const PROGRAM = process.platform === 'win32' ? 'chdman.exe' : 'chdman'
const OUTPUT_BYTES_MAX = 16 * 1024 ** 2
const REASON_MAX = 300

/** The error that chdman reports for an image or a conversion it cannot handle. */
export class ChdmanError extends Error {
  override readonly name = 'ChdmanError'
  /** The whole output of the program. */
  readonly output: string

  constructor (output: string) {
    super(`chdman: ${reasonOf(cleanOutput(output))}`)
    this.output = output
  }
}

/** Finds chdman, which makes CHDs, on the `PATH` of the server; null if it is not installed. */
export async function findChdman (): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter((one) => one !== '')) {
    const program = join(folder, PROGRAM)
    if (await access(program, constants.X_OK).then(() => true, () => false)) return program
  }
  return null
}

/** Finds chdman. @throws ApiError CONFLICT with instructions to install it */
export async function requireChdman (): Promise<string> {
  const program = await findChdman()
  if (program !== null) return program
  throw new ApiError('CONFLICT', 'chdman, which reads and writes CHDs, is not installed on the machine of the scan worker. Install ' +
    "it (Debian and Ubuntu: apt install mame-tools; macOS: brew install rom-tools) on the worker's PATH, then run the task again")
}

/** Returns the last message of the output; progress is overwritten with carriage returns. */
function reasonOf (output: string): string {
  const lines = output.split(/[\r\n]+/).map((line) => line.trim())
    .filter((line) => line !== '' && !/^(chdman - |(Compressing|Extracting|Verifying), |Fatal error)/.test(line))
  return (lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? 'it failed without a message').slice(0, REASON_MAX)
}

/** Removes progress, which precedes an error on the same line. */
const cleanOutput = (text: string) => text.replaceAll(/[A-Za-z]+, [\d.]+% complete\.\.\.(\s*\(ratio=[\d.]+%\))?/g, '\n')

export function createChdman (program: string, signal: AbortSignal) {
  /** Runs chdman. @returns its output @throws ChdmanError */
  function run (...args: string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { signal, killSignal: 'SIGKILL', maxBuffer: OUTPUT_BYTES_MAX } as const
      execFile(program, args, options, (err, stdout, stderr) => {
        if (err === null) resolve(stdout)
        else if (signal.aborted) reject(signal.reason as Error)
        else reject(new ChdmanError(`${stdout}\n${stderr}`))
      })
    })
  }
  let commands: Promise<string> | null = null

  return {
    run,
    /** True if chdman has a command: the commands for DVDs came with release 0.255. */
    async supports (command: string): Promise<boolean> {
      commands ??= run().catch((err: unknown) => {
        // Without a command chdman lists its commands and fails.
        if (err instanceof ChdmanError) return err.output
        throw err
      })
      return (await commands).includes(` ${command}:`)
    }
  }
}
export type Chdman = ReturnType<typeof createChdman>

/** Reads the header of a CHD; null for any file but a CHD of version 5. */
export async function readChdHeader (path: string): Promise<ChdHeader | null> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(CHD_HEADER_BYTES), 0, CHD_HEADER_BYTES, 0)
    return parseChdHeader(buffer.subarray(0, bytesRead))
  } finally {
    await handle.close()
  }
}
