import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Test } from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { startRoundRobin } from '../e2e/round-robin.ts'
import { tryFetch } from '../e2e/server.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'
import { installDebian } from './install-debian.ts'

const UNPACKED = process.env.SOAK_PROXIES ?? '/'
const LIBRARIES = join(UNPACKED, 'usr', 'lib', 'x86_64-linux-gnu')

const findProgram = () => [...(process.env.PATH ?? '').split(delimiter), join(UNPACKED, 'usr', 'sbin')]
  .map((place) => join(place, 'haproxy')).find((path) => existsSync(path))

/** Returns the file of examples/cluster with other addresses. */
function configure (t: Test, port: number, hosts: readonly string[]): string {
  const text = readFileSync(join(SERVER_DIR, 'examples', 'cluster', 'haproxy.cfg'), 'utf8')
  const changes: [RegExp, string][] = [
    // Fewer open files, which a container may have in plenty.
    [/^ {2}maxconn 10000$/m, '  maxconn 1000'],
    [/^ {2}bind :80$/m, `  bind 127.0.0.1:${port}`],
    [/^resolvers docker\n {2}.*$/m, ''],
    [/ resolvers docker init-addr last,libc,none$/m, ''],
    ...hosts.map((host, index): [RegExp, string] =>
      [new RegExp(`^ {2}server web${index + 1} web${index + 1}:8080$`, 'm'), `  server web${index + 1} ${host}`])
  ]
  for (const [pattern] of changes) t.match(text, pattern, 'the example has the setting')
  return changes.reduce((changed, [pattern, to]) => changed.replace(pattern, () => to), text)
}

/**
 * Starts a load balancer without stickiness in front of two web hosts: Debian's HAProxy with the file of
 * examples/cluster, or one of this project's own if there is no HAProxy.
 *
 * @param hosts addresses such as `127.0.0.2:8080`
 */
export async function startLoadBalancer (t: Test, folder: string, hosts: readonly string[]): Promise<string> {
  await installDebian(['haproxy'], async () => findProgram() !== undefined)
  const program = findProgram()
  if (program === undefined) {
    t.comment('there is no haproxy on this machine')
    return (await startRoundRobin(t, hosts.map((host) => `http://${host}`))).url
  }
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, configure(t, port, hosts))
  const child = spawn(program, ['-db', '-f', file], { env: { LD_LIBRARY_PATH: LIBRARIES }, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => { chunks.push(text) })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended with ${child.exitCode}:\n${chunks.join('')}`)
    return (await tryFetch(`${url}/api/heartbeat`))?.status === 200
  }, 'HAProxy to answer', { output: () => chunks.join('') })
  return url
}
