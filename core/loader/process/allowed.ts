/** Members of an object that a plugin may use; null allows all. */
type Members = readonly string[] | null

/** Functions of `fs` that read files. */
const READING = ['access', 'constants', 'lstat', 'open', 'opendir', 'readFile', 'readdir', 'readlink', 'realpath', 'stat']

/** Members of `fs`, without those that write, watch or take descriptors of other files than the plugin's. */
const FS = [
  ...READING, 'F_OK', 'R_OK', 'W_OK', 'X_OK', 'Dir', 'Dirent', 'Stats', 'ReadStream', 'FileReadStream', 'accessSync', 'close',
  'closeSync', 'createReadStream', 'exists', 'existsSync', 'fstat', 'fstatSync', 'lstatSync', 'openSync', 'opendirSync', 'promises',
  'read', 'readFileSync', 'readSync', 'readdirSync', 'readlinkSync', 'readv', 'readvSync', 'realpathSync', 'statSync'
]

const OS = [
  'EOL', 'arch', 'availableParallelism', 'constants', 'cpus', 'devNull', 'endianness', 'freemem', 'homedir', 'hostname', 'loadavg',
  'machine', 'platform', 'release', 'tmpdir', 'totalmem', 'type', 'uptime', 'version'
]

/** Members of `module` that load CommonJS, without hooks that would run before the server's own. */
const MODULE = [
  'Module', 'SourceMap', '_cache', '_debug', '_extensions', '_findPath', '_initPaths', '_load', '_nodeModulePaths', '_pathCache',
  '_preloadModules', '_readPackage', '_resolveFilename', '_resolveLookupPaths', '_stat', 'builtinModules', 'constants',
  'createRequire', 'findPackageJSON', 'findSourceMap', 'getSourceMapsSupport', 'globalPaths', 'isBuiltin', 'length', 'name',
  'prototype', 'wrap', 'wrapper'
]

/** Excludes `createHook`: its hooks see Node's internal handles, the channel to the server among them. */
const ASYNC_HOOKS = ['AsyncLocalStorage', 'AsyncResource', 'executionAsyncId', 'triggerAsyncId']

/**
 * The modules of Node that a plugin may import. None of them reaches a network, a process, a thread, the debugger, the
 * engine's settings, or a file past `--allow-fs-read`. A module of a later Node is refused until it is listed here.
 */
export const MODULES: Readonly<Record<string, Members>> = {
  assert: null,
  'assert/strict': null,
  async_hooks: ASYNC_HOOKS,
  buffer: null,
  console: null,
  constants: null,
  crypto: null,
  diagnostics_channel: null,
  events: null,
  fs: FS,
  'fs/promises': READING,
  module: MODULE,
  os: OS,
  path: null,
  'path/posix': null,
  'path/win32': null,
  perf_hooks: null,
  process: null,
  punycode: null,
  querystring: null,
  readline: null,
  'readline/promises': null,
  stream: null,
  'stream/consumers': null,
  'stream/promises': null,
  'stream/web': null,
  string_decoder: null,
  sys: null,
  timers: null,
  'timers/promises': null,
  tty: ['isatty'],
  url: null,
  util: null,
  'util/types': null,
  zlib: null
}

/**
 * Members of `process`. The others send signals, load native code, change the user, or expose handles and internals.
 */
export const PROCESS = [
  '_events', '_eventsCount', '_exiting', '_fatalException', '_maxListeners', '_preload_modules', '_rawDebug', '_tickCallback', 'abort',
  'allowedNodeEnvironmentFlags', 'arch', 'argv', 'argv0', 'availableMemory', 'config', 'constrainedMemory', 'cpuUsage', 'cwd',
  'domain', 'emitWarning', 'env', 'execArgv', 'execPath', 'exit', 'exitCode', 'features', 'finalization', 'getegid', 'geteuid',
  'getgid', 'getgroups', 'getuid', 'hasUncaughtExceptionCaptureCallback', 'hrtime', 'memoryUsage', 'nextTick', 'permission', 'pid',
  'platform', 'ppid', 'reallyExit', 'ref', 'release', 'resourceUsage', 'sourceMapsEnabled', 'stderr', 'stdin', 'stdout', 'title',
  'unref', 'uptime', 'version', 'versions'
]

/** Globals, without those that open connections, or that load Node's HTTP client as `Response` does. */
export const GLOBALS = [
  // ECMAScript
  'AggregateError', 'Array', 'ArrayBuffer', 'AsyncDisposableStack', 'Atomics', 'BigInt', 'BigInt64Array', 'BigUint64Array', 'Boolean',
  'DataView', 'Date', 'DisposableStack', 'Error', 'EvalError', 'FinalizationRegistry', 'Float16Array', 'Float32Array',
  'Float64Array', 'Function', 'Infinity', 'Int16Array', 'Int32Array', 'Int8Array', 'Intl', 'Iterator', 'JSON', 'Map', 'Math', 'NaN',
  'Number', 'Object', 'Promise', 'Proxy', 'RangeError', 'ReferenceError', 'Reflect', 'RegExp', 'Set', 'SharedArrayBuffer', 'String',
  'SuppressedError', 'Symbol', 'SyntaxError', 'Temporal', 'TypeError', 'URIError', 'Uint16Array', 'Uint32Array', 'Uint8Array',
  'Uint8ClampedArray', 'WeakMap', 'WeakRef', 'WeakSet', 'WebAssembly', 'decodeURI', 'decodeURIComponent', 'encodeURI',
  'encodeURIComponent', 'escape', 'eval', 'globalThis', 'isFinite', 'isNaN', 'parseFloat', 'parseInt', 'undefined', 'unescape',
  // Node and the web
  'AbortController', 'AbortSignal', 'Blob', 'Buffer', 'ByteLengthQueuingStrategy', 'CompressionStream', 'CountQueuingStrategy',
  'Crypto', 'CryptoKey', 'CustomEvent', 'DOMException', 'DecompressionStream', 'Event', 'EventTarget', 'File', 'MessageChannel',
  'MessagePort', 'Navigator', 'Performance', 'PerformanceEntry', 'PerformanceMark', 'PerformanceMeasure', 'PerformanceObserver',
  'PerformanceObserverEntryList', 'PerformanceResourceTiming', 'ReadableByteStreamController', 'ReadableStream',
  'ReadableStreamBYOBReader', 'ReadableStreamBYOBRequest', 'ReadableStreamDefaultController', 'ReadableStreamDefaultReader',
  'SubtleCrypto', 'TextDecoder', 'TextDecoderStream', 'TextEncoder', 'TextEncoderStream', 'TransformStream',
  'TransformStreamDefaultController', 'URL', 'URLPattern', 'URLSearchParams', 'WritableStream', 'WritableStreamDefaultController',
  'WritableStreamDefaultWriter', 'atob', 'btoa', 'clearImmediate', 'clearInterval', 'clearTimeout', 'console', 'crypto', 'global',
  'navigator', 'performance', 'process', 'queueMicrotask', 'setImmediate', 'setInterval', 'setTimeout', 'structuredClone'
]
