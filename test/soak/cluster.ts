import { join } from 'node:path'
import type { Test } from 'tap'
import { type Command, createUsedDataDir, runSvc, settings, tryFetch } from '../e2e/server.ts'
import { freePort } from '../free-port.ts'
import { withConnection } from '../plugins/migrations/support.ts'
import { until } from '../until.ts'
import { type Host, startHost } from './hosts.ts'
import { startLoadBalancer } from './load-balancer.ts'
import { ADMIN, AUTHORIZATION, WAIT_MS } from './server.ts'

export interface ClusterOptions {
  /** A folder for the shared data directory and the file of the load balancer. */
  folder: string
  library: string
  databaseUrl: string
}

/** Two web hosts behind a load balancer, and a scan worker, on one database and one data directory. */
export interface Cluster {
  /** The address of the load balancer. */
  url: string
  /** The web hosts, then the scan worker. */
  hosts: readonly Host[]
  /** Starts a web host beside the load balancer, which is not started again. */
  startLone (): Promise<{ command: Command, url: string }>
  output (): string
  /** @returns the id of the task */
  startScan (): Promise<string>
  /** Waits for the end of a scan, however often the database goes away. */
  waitForScan (t: Test, task: string): Promise<void>
}

interface Task { status: string, error: string | null, ended_at: Date | null }

export async function startCluster (t: Test, { folder, library, databaseUrl }: ClusterOptions): Promise<Cluster> {
  const dataDir = createUsedDataDir(join(folder, 'data'))
  const addresses = [`127.0.0.2:${await freePort()}`, `127.0.0.3:${await freePort()}`]
  const env = settings(dataDir, {
    ...ADMIN,
    SVC_DATABASE_URL: databaseUrl,
    SVC_LIBRARY_DIR: library,
    SVC_AUTH_SECRET_KEY: 'one key of all hosts',
    SVC_TRUSTED_PROXIES: '127.0.0.1'
  })
  const hosts: Host[] = []
  for (const address of addresses) {
    const [SVC_HOST = '', SVC_PORT = ''] = address.split(':')
    hosts.push(await startHost(t, 'web', { ...env, SVC_HOST, SVC_PORT, SVC_INTERNAL_ADDRESS: `${SVC_HOST}:${await freePort()}` }))
  }
  hosts.push(await startHost(t, 'worker', env))
  const url = await startLoadBalancer(t, folder, addresses)
  const output = () => hosts.map((host) => host.command().output().slice(-5_000)).join('\n')

  async function startLone () {
    const command = runSvc(t, ['web'], { ...env, SVC_HOST: '127.0.0.4', SVC_INTERNAL_ADDRESS: `127.0.0.4:${await freePort()}` })
    const [, url = ''] = await until(() => /"url":"([^"]+)"/.exec(command.output()), 'a lone host', { ...command, ms: WAIT_MS })
    return { command, url }
  }

  return {
    url,
    hosts,
    startLone,
    output,
    startScan: () => until(async () => {
      const answer = await tryFetch(`${url}/api/tasks/scan`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'quick', apis: [] })
      })
      return answer?.status === 202 && ((await answer.json()) as { task_id: string }).task_id
    }, 'a scan', { output, ms: WAIT_MS }),
    async waitForScan (t, id) {
      const task = await until(async () => {
        const rows = await withConnection(databaseUrl, async (client) =>
          (await client.query<Task>('select status, error, ended_at from tasks where id = $1', [id])).rows).catch(() => [])
        return rows[0]?.ended_at instanceof Date && rows[0]
      }, 'the end of the scan', { output, ms: WAIT_MS })
      t.match(task, { status: 'finished', error: null })
    }
  }
}
