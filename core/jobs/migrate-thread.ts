import { parentPort, workerData } from 'node:worker_threads'
import { type ConstructorOptions, PgBoss } from 'pg-boss'

/** Migrates the tables of the queue, and reports errors of its connections to the process. */
const boss = new PgBoss(workerData as ConstructorOptions)
boss.on('error', (err) => { parentPort?.postMessage(err) })
await boss.start()
await boss.stop({ graceful: false, close: true })
