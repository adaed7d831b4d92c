import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** With it Node hands its native parts to JavaScript; the entry strips them before the plugin loads. */
export const EXPOSE_INTERNALS = '--expose-internals'

type Bindings = (name: string) => Record<string, unknown>

/** Native parts whose classes and functions a plugin never needs, of which nothing is left. */
const EMPTIED = [
  'cares_wrap', 'fs_event_wrap', 'heap_utils', 'http_parser', 'inspector', 'js_udp_wrap', 'mksnapshot', 'process_wrap',
  'profiler', 'quic', 'report', 'signal_wrap', 'spawn_sync', 'sqlite', 'tcp_wrap', 'tls_wrap', 'udp_wrap', 'wasi', 'worker'
]

/** Functions that write, signal or change the user in parts of which the process needs others. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  blob: ['createBlobFromFilePath'],
  credentials: ['initgroups', 'setegid', 'seteuid', 'setgid', 'setgroups', 'setuid'],
  fs: [
    'chmod', 'chown', 'copyFile', 'cpSyncCheckPaths', 'cpSyncCopyDir', 'cpSyncOverrideFile', 'fchmod', 'fchown', 'fdatasync', 'fsync',
    'ftruncate', 'futimes', 'lchown', 'link', 'lutimes', 'mkdir', 'mkdtemp', 'rename', 'rmSync', 'rmdir', 'symlink', 'unlink', 'utimes',
    'writeFileUtf8'
  ],
  messaging: ['broadcastChannel', 'moveMessagePortToContext'],
  modules: ['enableCompileCache'],
  os: ['setPriority'],
  process_methods: ['_debugEnd', '_debugProcess', '_getActiveHandles', '_getActiveRequests', '_kill', 'chdir', 'dlopen', 'execve', 'loadEnvFile'],
  // Tracing writes a file into the working directory.
  trace_events: ['CategorySet'],
  v8: ['setFlagsFromString', 'setHeapSnapshotNearHeapLimit']
}

function isFunction (value: unknown): value is { prototype?: object } {
  return typeof value === 'function'
}

/** Nothing that Node kept of a class works without its methods. */
function removeMethods (binding: Record<string, unknown>): void {
  for (const [name, member] of Object.entries(binding)) {
    if (!isFunction(member)) continue
    for (const method of Reflect.ownKeys(member.prototype ?? {})) {
      if (method !== 'constructor') Reflect.deleteProperty(member.prototype ?? {}, method)
    }
    remove(binding, name)
  }
}

/** @throws when it cannot be removed, because the plugin must not run then */
function remove (binding: object, name: string): void {
  if (!Reflect.deleteProperty(binding, name)) throw new Error(`This Node cannot remove ${name} from plugins; start the server with the newest Node 24`)
}

/** A release of Node need not have all of them. */
function find (bindings: Bindings, name: string): Record<string, unknown> | null {
  try {
    return bindings(name)
  } catch {
    return null
  }
}

/**
 * A copy of an object of Node's own names the class that it is made of again, any of Node's classes. A plugin could
 * so have one made, and catch it while it is made. No such object is copied any more.
 */
function refuseCopies (messaging: Record<string, unknown>): void {
  const set = messaging.setDeserializerCreateObjectFunction ?? messaging.setDeserializerCreateFunction
  if (!isFunction(set)) throw new Error('This Node cannot keep plugins from copying objects; start the server with the newest Node 24')
  Reflect.apply(set as (create: () => never) => void, undefined, [() => { throw new Error("A plugin cannot copy objects of Node's own classes; copy their contents") }])
}

const READABLE_FLAG = '--allow-fs-read='
/** The error code of a missing file, as the loaders expect it. */
const MISSING = -2

/** Returns the folders above the readable paths, in which the loaders look for packages. */
function listFoldersAbove (flags: readonly string[]): Readonly<Record<string, true>> {
  const folders = Object.create(null) as Record<string, true>
  for (const flag of flags) {
    if (!flag.startsWith(READABLE_FLAG)) continue
    let folder = dirname(flag.slice(READABLE_FLAG.length))
    for (; folders[folder] !== true; folder = dirname(folder)) folders[folder] = true
  }
  return Object.freeze(folders)
}

/** Returns an error for a path that the plugin may not read, with the code of Node's own. */
function accessDenied (path: string): Error {
  return Object.assign(new Error(`A plugin may not read '${path}': it reads its own folder, its dependencies and the SDK only`),
    { code: 'ERR_ACCESS_DENIED', permission: 'FileSystemRead', resource: path })
}

/**
 * Hides all files that the plugin may not read from the loaders and from `fs.realpathSync`, because the permission
 * model does not. Both would tell whether any file of the machine exists. Both examine the plugin's own folders and
 * the folders above them, so those stay visible.
 */
function hideFiles (fs: Record<string, unknown>): void {
  const { internalModuleStat: stat, lstat } = fs
  const { permission, execArgv } = process
  if (!isFunction(stat) || !isFunction(lstat)) throw new Error('This Node cannot hide files from plugins; start the server with the newest Node 24')
  const above = listFoldersAbove(execArgv)
  const has = permission.has.bind(permission)
  const isVisible = (path: string) => above[path] === true || has('fs.read', path)
  fs.internalModuleStat = (path: string) => isVisible(path) ? (stat as (path: string) => number)(path) : MISSING
  fs.lstat = (path: string, ...rest: unknown[]) => {
    if (!isVisible(path)) throw accessDenied(path)
    return (lstat as (path: string, ...rest: unknown[]) => unknown)(path, ...rest)
  }
}

/**
 * Takes from Node's native parts what a plugin must not reach, so that one that gets hold of Node's internal modules
 * has gained nothing.
 */
export function stripBindings (): void {
  const { internalBinding: bindings } = createRequire(import.meta.url)('internal/test/binding') as { internalBinding: Bindings }
  refuseCopies(bindings('messaging'))
  for (const name of EMPTIED) {
    const binding = find(bindings, name)
    if (binding !== null) removeMethods(binding)
  }
  for (const [name, functions] of Object.entries(REFUSED)) {
    const binding = find(bindings, name)
    for (const name of functions) if (binding !== null) remove(binding, name)
  }
  hideFiles(bindings('fs'))
}
