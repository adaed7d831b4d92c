import assert from 'node:assert/strict'

/**
 * Runs `call` while watching the environment and the global `fetch`.
 *
 * @throws Error when the plugin used one of them instead of its context.
 */
export async function checkIsolation (call: () => Promise<unknown>) {
  const used = new Set<string>()
  const { env } = process
  const { fetch } = globalThis
  process.env = watchEnvironment(env, used)
  globalThis.fetch = async () => {
    used.add('fetch()')
    throw new Error('fetch is not for plugins; use ctx.http')
  }
  try {
    await call()
  } finally {
    process.env = env
    globalThis.fetch = fetch
  }
  assert.deepEqual([...used], [], 'read configuration from ctx.config and make requests with ctx.http')
}

function watchEnvironment (env: NodeJS.ProcessEnv, used: Set<string>): NodeJS.ProcessEnv {
  const recordAccess = (name: string | symbol) => {
    if (isReadByPlugin(new Error().stack ?? '')) used.add(`process.env.${String(name)}`)
  }
  return new Proxy(env, {
    get (target, name) {
      recordAccess(name)
      return typeof name === 'string' ? target[name] : undefined
    },
    has (target, name) {
      recordAccess(name)
      return Reflect.has(target, name)
    },
    ownKeys (target) {
      recordAccess('*')
      return Reflect.ownKeys(target)
    }
  })
}

/**
 * True if the plugin itself read the environment. Node and installed packages, such as the test runner, may read it.
 */
function isReadByPlugin (stack: string): boolean {
  const frames = stack.split('\n').slice(1).filter((line) => !line.includes(import.meta.url))
  const caller = frames[0] ?? ''
  return !/node:|[\\/]node_modules[\\/]/.test(caller) && /file:|[\\/]/.test(caller)
}
