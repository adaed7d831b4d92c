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

/** Asks twice without showing what is typed. */
async function askPassword (): Promise<string> {
  const nowhere = new Writable({ write (_chunk, _encoding, done) { done() } })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  async function ask (question: string): Promise<string> {
    process.stderr.write(question)
    const answer = await terminal.question('')
    process.stderr.write('\n')
    return answer
  }
  try {
    const password = await ask('Password: ')
    if (await ask('Once more: ') === password) return password
  } catch (err) {
    if ((err as Error).name !== 'AbortError') throw err
    throw new StartError('No password was given; no user was made.')
  } finally {
    terminal.close()
  }
  throw new StartError('The two passwords differ. Repeat the command.')
}

async function readPassword (options: UserOptions): Promise<string> {
  const fromEnvironment = process.env.SVC_NEW_PASSWORD
  if (options.passwordStdin === true) return (await text(process.stdin)).split(/\r?\n/, 1)[0] ?? ''
  if (fromEnvironment !== undefined && fromEnvironment !== '') return fromEnvironment
  if (!process.stdin.isTTY) {
    throw new StartError('No password was given. Pipe it in with --password-stdin, set SVC_NEW_PASSWORD, or run this in ' +
      'a terminal to be asked for it.', { exitCode: 2 })
  }
  return await askPassword()
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
