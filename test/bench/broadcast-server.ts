import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Server } from 'socket.io'
import { buildApp } from '../../core/app.ts'
import { features } from '../../plugins/index.ts'
import { loadConfig } from '../load-config.ts'

/** `databaseUrl` is that of the server's database; null for the minimal program. */
export interface BroadcastServerOrder { databaseUrl: string | null, dataDir: string }
export interface BroadcastOrder { events: number, perSecond: number }

/** As large as the event of a scanned ROM. */
const PAYLOAD = { text: 'x'.repeat(300) }

async function startServer (databaseUrl: string, dataDir: string): Promise<{ io: Server, port: number }> {
  const { config } = loadConfig({
    SVC_DATA_DIR: dataDir, SVC_AUTH_SECRET_KEY: 'a key for this run only', SVC_TRUSTED_PROXIES: '127.0.0.1'
  })
  const app = await buildApp({
    config, role: 'web', databaseUrl, logger: pino({ level: 'error' }), features, workerNumber: 1, packages: []
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { io: app.sockets.main, port: (app.server.address() as AddressInfo).port }
}

async function startBare (): Promise<{ io: Server, port: number }> {
  const server = createServer()
  const io = new Server(server, { path: '/ws/socket.io' })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { io, port: (server.address() as AddressInfo).port }
}

/** Sends events to all sockets at a steady rate. */
async function broadcast (io: Server, { events, perSecond }: BroadcastOrder): Promise<void> {
  const started = performance.now()
  for (let event = 0; event < events; event++) {
    await sleep(Math.max(0, started + event * 1_000 / perSecond - performance.now()))
    io.emit('bench', { ...PAYLOAD, event })
  }
}

process.once('message', ({ databaseUrl, dataDir }: BroadcastServerOrder) => {
  const starting = databaseUrl === null ? startBare() : startServer(databaseUrl, dataDir)
  void starting.then(({ io, port }) => {
    process.on('message', (order: BroadcastOrder) => { void broadcast(io, order) })
    process.send?.(port)
  })
})
process.once('disconnect', () => { process.exit(0) })
