import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fastify from 'fastify'
import { features } from '../plugins/index.ts'
import { createUsers } from '../plugins/users/service.ts'
import { findDatabaseUrl } from './cli-database.ts'
import { loadConfig } from './config.ts'
import database from './database.ts'
import { StartError } from './errors.ts'

export interface UserOptions { admin?: boolean, email: string, passwordStdin?: boolean }

/** Asks without showing what is typed. */
async function askHidden (question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write (_chunk, _encoding, done) { done() } })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

async function readPassword (options: UserOptions): Promise<string> {
  const fromEnvironment = process.env.SVC_NEW_PASSWORD
  if (options.passwordStdin === true) return (await text(process.stdin)).split(/\r?\n/, 1)[0] ?? ''
  if (fromEnvironment !== undefined && fromEnvironment !== '') return fromEnvironment
  if (!process.stdin.isTTY) {
    throw new StartError('No password was given. Pipe it in with --password-stdin, set SVC_NEW_PASSWORD, or run this in ' +
      'a terminal to be asked for it.', { exitCode: 2 })
  }
  const password = await askHidden('Password: ')
  if (await askHidden('Once more: ') === password) return password
  throw new StartError('The two passwords differ. Repeat the command.')
}

/** `svc user add`. */
export async function addUser (name: string, options: UserOptions): Promise<void> {
  const { config } = loadConfig()
  const url = findDatabaseUrl(config)
  const password = await readPassword(options)
  const app = fastify()
  try {
    await app.register(database, { url, poolSize: 1, entities: features.entities })
    const user = await createUsers(app).create({
      username: name, password, email: options.email, role: options.admin === true ? 'admin' : 'user'
    })
    process.stdout.write(`${user.role === 'admin' ? 'Administrator' : 'User'} '${user.username}' was made.\n`)
  } finally {
    await app.close()
  }
}
