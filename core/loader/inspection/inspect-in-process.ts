import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Environment, settingsEnvironment } from '../../config/environment.ts'
import { StartError } from '../../errors.ts'
import { SERVER_DIR } from '../../server-dir.ts'
import { WEB_FLAGS } from '../../process/node-flags.ts'
import { inheritedFlags } from '../packages/strip-types.ts'
import type { Inspection } from './inspect.ts'
import type { PluginPackage } from '../packages/packages.ts'
import { bootsMs } from '../process/boot-limits.ts'
import type { StoredValues } from '../settings/stored-settings.ts'

/** The order for the process. It contains the settings, because other users may read the environment of a process. */
export interface InspectRequest {
  settings: Environment
  runsPlugins: boolean
  packages: PluginPackage[]
  /** The settings that administrators stored, by kind and key of the plugin. */
  stored: Record<string, StoredValues>
}
export type InspectResult = { inspection: Inspection, problem: null } | { inspection: null, problem: string }

const ENTRY = join(SERVER_DIR, 'core', 'composition', 'inspect-process.ts')
/** Loading, setting up and closing have five seconds each, once all processes are started. */
const INSPECT_MS = 30_000

export interface InspectOptions {
  /** True if the plugins are also set up. */
  runsPlugins: boolean
  packages: PluginPackage[]
  settings?: Environment
  stored?: Record<string, StoredValues>
}

/**
 * Inspects packages in a separate process.
 *
 * @throws StartError if that fails or takes too long
 */
export async function inspectInProcess (
  { runsPlugins, packages, settings = settingsEnvironment(), stored = {} }: InspectOptions
): Promise<Inspection> {
  const { promise, resolve, reject } = Promise.withResolvers<Inspection>()
  const ms = INSPECT_MS + bootsMs(packages.filter(({ origin }) => origin === 'community').length)
  const child = fork(ENTRY, [], { execArgv: [...WEB_FLAGS, ...inheritedFlags()], serialization: 'advanced' })
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    reject(new StartError(`Inspecting the plugins took longer than ${ms / 1_000} s; try again when the machine is ` +
      'less busy'))
  }, ms)
  child.once('message', (message) => {
    const { inspection, problem } = message as InspectResult
    if (inspection === null) reject(new StartError(problem))
    else resolve(inspection)
  })
  child.once('error', reject)
  child.once('exit', (code, signal) => {
    reject(new StartError(`The process that inspects the plugins ended with ${signal ?? `code ${code}`}`))
  })
  child.send({ settings: { ...settings }, runsPlugins, packages, stored } satisfies InspectRequest)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
