import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describePlugin, inspectPlugins } from './cli.ts'
import type { Features } from '../../core/feature.ts'
import { StartError } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { linkSdk } from '../../core/loader/packages/packages.ts'
import { readServerState } from '../../core/supervisor/server-state.ts'
import { NPM_FLAGS, runNpm } from './run-npm.ts'

/** The folder of plugins in the data directory. */
const FOLDER = 'plugins'

type Dependencies = Record<string, string>

function createFolder (dataDir: string): string {
  const folder = join(dataDir, FOLDER)
  const file = join(folder, 'package.json')
  mkdirSync(folder, { recursive: true })
  if (!existsSync(file)) {
    writeFileSync(file, `${JSON.stringify({ name: 'svc-plugins', private: true, dependencies: {} }, null, 2)}\n`)
  }
  return folder
}

function readDependencies (folder: string): Dependencies {
  const json = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies?: Dependencies }
  return json.dependencies ?? {}
}

/** Resolves `./folder` against the current folder, because npm runs in another one. */
function readSpec (spec: string): string {
  if (spec.startsWith('-')) {
    throw new StartError(`'${spec}' is not a package name. Give a name, a folder or a tarball.`, { exitCode: 2 })
  }
  return existsSync(spec) ? resolve(spec) : spec
}

/** Finds the dependency that came with `spec`: the changed one, else the one of this name. */
export function findAdded (before: Dependencies, after: Dependencies, spec: string): string | undefined {
  const names = Object.keys(after)
  return names.find((name) => before[name] !== after[name]) ??
    names.find((name) => spec === name || spec.startsWith(`${name}@`)) ??
    names.find((name) => after[name]?.startsWith('file:') === true && basename(after[name]) === basename(spec))
}

function printRestartHint (dataDir: string): void {
  if (readServerState(dataDir) !== null) process.stdout.write('Restart the server for this to take effect.\n')
}

/** Runs `svc plugins add`. @returns 0 if the plugin can be used or only needs its settings */
export async function addPlugin (features: Features, given: string): Promise<number> {
  const { config } = await features.loadConfig()
  const spec = readSpec(given)
  await requireFreeSpace(join(config.data_dir, FOLDER), 0)
  const folder = createFolder(config.data_dir)
  const before = readDependencies(folder)
  await runNpm(folder, ['install', '--prefix', folder, ...NPM_FLAGS, '--', spec])
  linkSdk(config.data_dir)
  const name = findAdded(before, readDependencies(folder), spec)
  const record = (await inspectPlugins(config)).find((candidate) => candidate.package === name)
  if (record === undefined) throw new StartError(`npm installed '${given}', but it contains no plugin; see svc plugins.`)
  process.stdout.write(`${record.package} ${record.version ?? ''}: ${describePlugin(record)}\n`)
  printRestartHint(config.data_dir)
  return record.status === 'active' || record.status === 'disabled' ? 0 : 1
}

/** Runs `svc plugins remove`. */
export async function removePlugin (features: Features, name: string): Promise<number> {
  const { config } = await features.loadConfig()
  const folder = createFolder(config.data_dir)
  const installed = Object.keys(readDependencies(folder))
  if (!installed.includes(name)) {
    throw new StartError(`No plugin '${name}' was added. ${installed.length === 0 ? 'There are none.' : `The plugins are: ${installed.join(', ')}.`}`)
  }
  await runNpm(folder, ['uninstall', '--prefix', folder, ...NPM_FLAGS, '--', name])
  linkSdk(config.data_dir)
  process.stdout.write(`${name} was removed.\n`)
  printRestartHint(config.data_dir)
  return 0
}
