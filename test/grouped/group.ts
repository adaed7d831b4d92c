import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { mock } from 'node:test'
import { pathToFileURL } from 'node:url'
import root, { type Test } from 'tap'
import { setSettings } from '../../core/config/environment.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'

/** tap's time limit for a file. */
const FILE_TIMEOUT_MS = Number(process.env.TAP_TIMEOUT ?? 480) * 1_000
/** The file's own timeout must be reported before that of the process. */
const GRACE_MS = 10_000

let current: Test = root

/** Returns the test of the current file, in place of tap's test of the whole process. */
export const fileTest = (): Test => current

/** Makes each test file import its own `tap`, so that its changes to tap end with it. */
function giveOwnTap (isTest: (url: string) => boolean): void {
  registerHooks({
    resolve (specifier, context, nextResolve) {
      if (specifier !== 'tap' || context.parentURL === undefined || !isTest(context.parentURL)) {
        return nextResolve(specifier, context)
      }
      const url = new URL(`./own-tap.ts?${encodeURIComponent(context.parentURL)}`, import.meta.url).href
      return { url, shortCircuit: true }
    }
  })
}

/** Returns a function that undoes a file's changes to the process. */
function keepProcess (): () => void {
  const [env, directory, umask] = [{ ...process.env }, process.cwd(), process.umask()]
  return () => {
    mock.timers.reset()
    process.umask(umask)
    for (const name of Object.keys(process.env)) if (!(name in env)) Reflect.deleteProperty(process.env, name)
    Object.assign(process.env, env)
    // A command in this process may have removed the settings.
    setSettings(process.env)
    process.chdir(directory)
  }
}

async function runFile (file: string, url: string): Promise<void> {
  root.setTimeout(FILE_TIMEOUT_MS + GRACE_MS)
  const restore = keepProcess()
  await root.test(file, { timeout: FILE_TIMEOUT_MS, at: null, stack: '' }, async (t) => {
    // The same folder as when the file runs alone.
    t.testdirName = join(SERVER_DIR, '.tap', 'fixtures', file.replaceAll('/', '-'))
    current = t
    await import(url)
  })
  current = root
  restore()
}

/** Runs test files one after the other in this process, each as a test with its name. */
export async function runFiles (files: Iterable<string>): Promise<void> {
  // tap may take an uncaught error for the end of a successful test.
  process.once('exit', () => { if (current !== root) current.fail('the process ended while this file ran') })
  const urls = new Set<string>()
  giveOwnTap((url) => urls.has(url))
  for (const file of files) {
    const url = pathToFileURL(join(SERVER_DIR, file)).href
    urls.add(url)
    await runFile(file, url)
  }
  if (urls.size === 0) root.plan(0, 'other processes have taken all files')
}
