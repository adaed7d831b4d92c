import { registerHooks, syncBuiltinESMExports } from 'node:module'
import type { Socket } from 'node:net'
import { GLOBALS, MODULES, PROCESS } from './allowed.ts'
import { stripBindings } from './bindings.ts'

/** Streaming compilation of WebAssembly loads Node's HTTP client. */
const WEBASSEMBLY_REFUSED = ['compileStreaming', 'instantiateStreaming']
/** These members of crypto can load a library of the system. */
const CRYPTO_REFUSED = ['setEngine', 'setFips']
/** The channel to the server needs these; others change settings of the engine, with which it writes files. */
const V8_KEPT = ['deserialize', 'serialize']
const PIPE_METHODS = new Set(['constructor'])

/** The hooks use nothing that the plugin could replace, such as methods of strings. */
const ALLOWED_URLS: Readonly<Record<string, true>> = Object.freeze(Object.assign(
  Object.create(null) as Record<string, true>,
  Object.fromEntries(Object.keys(MODULES).map((name) => [`node:${name}`, true]))
))

const isBuiltinUrl = (url: string) =>
  url[0] === 'n' && url[1] === 'o' && url[2] === 'd' && url[3] === 'e' && url[4] === ':'

function checkModuleUrl (url: string): void {
  if (!isBuiltinUrl(url) || ALLOWED_URLS[url] === true) return
  throw new Error(`A plugin may not import '${url}': its process has no network, programs or threads, so use ctx.http and ` +
    "the modules that sdk/README.md lists under 'Where it runs'")
}

/** Refuses modules. Every way to a module of Node passes these hooks: import, import(), require and createRequire. */
function refuseModules (): void {
  registerHooks({
    resolve (specifier, context, next) {
      const resolved = next(specifier, context)
      checkModuleUrl(resolved.url)
      return resolved
    },
    load (url, context, next) {
      checkModuleUrl(url)
      return next(url, context)
    }
  })
}

/** @throws if a member cannot be removed, because the plugin must not run then */
function remove (from: object, keys: readonly PropertyKey[], name: string): void {
  for (const key of keys) {
    if (!Reflect.deleteProperty(from, key)) throw new Error(`This Node cannot remove ${name}.${String(key)} from plugins; start the server with the newest Node 24`)
  }
}

function removeOthers (members: readonly PropertyKey[], of: object, name: string): void {
  const remaining = new Set(members)
  remove(of, Reflect.ownKeys(of).filter((key) => typeof key === 'string' && !remaining.has(key)), name)
}

/**
 * Removes the methods of the socket. A plugin may reach the channel, such as by a patched prototype, and could then
 * create sockets of the same classes.
 */
function stripSocket (channel: Socket): void {
  const handle: unknown = Reflect.get(channel, '_handle')
  if (typeof handle !== 'object' || handle === null) throw new Error('The channel to the server has no handle')
  const pipe = Object.getPrototypeOf(handle) as object
  remove(pipe, Reflect.ownKeys(pipe).filter((key) => typeof key !== 'string' || !PIPE_METHODS.has(key)), 'Pipe')
  remove(Object.getPrototypeOf(channel) as object, ['connect'], 'Socket')
}

/**
 * Locks what Node's own code uses of lists and promises. Its chain of hooks is a list that grows by appending: a setter
 * for an index could take each of the hooks that refuse modules, and a getter could put another function in its place.
 * Its loader awaits promises: another `then` could exchange the results.
 */
function lockIntrinsics (): void {
  Object.preventExtensions(Array.prototype)
  const locked: [object, PropertyKey][] = [
    [Array.prototype, 'constructor'], [Array.prototype, Symbol.iterator], [Object.getPrototypeOf([][Symbol.iterator]()) as object, 'next'],
    [Promise.prototype, 'constructor'], [Promise.prototype, 'then']
  ]
  for (const [object, key] of locked) Object.defineProperty(object, key, { configurable: false, writable: false })
  for (const type of [Array, Promise]) Object.defineProperty(type, Symbol.species, { configurable: false })
}

/** Puts a function in the place of `fetch` that names the remedy, because "fetch is not defined" names none. */
function refuseFetch (): void {
  const fetch = async () => {
    throw new Error('A plugin may not call fetch, because its process has no network; use ctx.http')
  }
  Object.defineProperty(globalThis, 'fetch', { value: fetch, configurable: true, enumerable: true, writable: true })
}

/** Sets an inert agent, because Node's HTTP client otherwise creates one that opens connections. */
function refuseAgent (): void {
  for (const version of [1, 2, 3]) {
    Object.defineProperty(globalThis, Symbol.for(`undici.globalDispatcher.${version}`), { value: Object.freeze({}) })
  }
}

/**
 * Removes everything from this process that the plugin must not reach, once the process itself has all it needs. Node's
 * permission model closes files, programs, threads and native code. This closes the rest: the network, signals, the
 * debugger and Node's internals. It cannot be undone.
 */
export function confine (channel: Socket): void {
  // Node creates the streams at first use, with functions of fs that are removed below.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const builtin = (name: string) => process.getBuiltinModule(name) as object
  for (const [name, members] of Object.entries(MODULES)) {
    if (members !== null) removeOthers(members, builtin(name), name)
  }
  remove(builtin('crypto'), CRYPTO_REFUSED, 'crypto')
  removeOthers(V8_KEPT, builtin('v8'), 'v8')
  remove(Reflect.get(globalThis, 'WebAssembly') as object, WEBASSEMBLY_REFUSED, 'WebAssembly')
  stripSocket(channel)
  refuseAgent()
  stripBindings()
  refuseModules()
  removeOthers(PROCESS, process, 'process')
  removeOthers(GLOBALS, globalThis, 'globalThis')
  refuseFetch()
  // Node's own code sets properties of objects that a setter here would be handed.
  Object.seal(Object.prototype)
  lockIntrinsics()
  syncBuiltinESMExports()
}
