import { parentPort, workerData } from 'node:worker_threads'
import { compareSync } from 'bcryptjs'

/** Compares one password with one hash, and ends. */
const { password, passwordHash } = workerData as { password: string, passwordHash: string }
parentPort?.postMessage(compareSync(password, passwordHash))
