import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { replacePassword } from '../auth/new-password.ts'
import { checkPassword, hashPassword } from '../auth/password-hash.ts'
import { createProviderAccounts } from './progress/provider-accounts.ts'
import { createUsers } from './service.ts'
import { findUser, withDatabase } from './with-database.ts'
import { findDatabaseUrl } from '../../core/cli/database.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { Features } from '../../core/feature.ts'
import { NEW_PASSWORD_VARIABLE, settingsEnvironment } from '../../core/config/environment.ts'
import { EXIT_CODES, StartError } from '../../core/errors.ts'

interface PasswordSource { passwordStdin?: boolean }
export interface UserOptions extends PasswordSource { admin?: boolean, email: string }
export interface PasswordOptions extends PasswordSource { keepTokens?: boolean }

/** Asks for the password twice and hides the input. */
async function askPassword (): Promise<string> {
  const nowhere = new Writable({ write (_chunk, _encoding, done) { done() } })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  async function askHidden (question: string): Promise<string> {
    process.stderr.write(question)
    const answer = await terminal.question('')
    process.stderr.write('\n')
    return answer
  }
  try {
    const password = await askHidden('Password: ')
    if (await askHidden('Repeat the password: ') === password) return password
  } catch (err) {
    if ((err as Error).name !== 'AbortError') throw err
    throw new StartError('No password was given; nothing was changed.')
  } finally {
    terminal.close()
  }
  throw new StartError('The two passwords differ. Repeat the command.')
}

async function readPassword (options: PasswordSource): Promise<string> {
  const fromEnvironment = settingsEnvironment()[NEW_PASSWORD_VARIABLE]
  if (options.passwordStdin === true) return (await text(process.stdin)).split(/\r?\n/, 1)[0] ?? ''
  if (fromEnvironment !== undefined && fromEnvironment !== '') return fromEnvironment
  if (!process.stdin.isTTY) {
    throw new StartError('No password was given. Pipe it in with --password-stdin, set SVC_NEW_PASSWORD, or run this command in ' +
      'a terminal, which asks for the password.', { exitCode: EXIT_CODES.usage })
  }
  return await askPassword()
}

/** Runs `svc user add`. */
export async function addUser (features: Features, name: string, options: UserOptions): Promise<void> {
  const url = await findDatabaseUrl((await features.loadConfig()).config)
  const password = await readPassword(options)
  await withDatabase(features, url, async (app) => {
    const user = await createUsers(app, createProviderAccounts({ definitions: [] })).create({
      username: name, password, email: options.email, role: options.admin === true ? 'admin' : 'user'
    }, 'svc user add')
    process.stdout.write(`${user.role === 'admin' ? 'Administrator' : 'User'} '${user.username}' was created.\n`)
  })
}

/** Runs `svc user password`, which lets a locked-out administrator in again. */
export async function setPassword (features: Features, name: string, options: PasswordOptions): Promise<void> {
  const url = await findDatabaseUrl((await features.loadConfig()).config)
  const password = await readPassword(options)
  await checkPassword(password)
  await withDatabase(features, url, async (app) => {
    const hash = await hashPassword(password)
    const { id, username } = await inTransaction(app.db, async (tx) => {
      const user = await findUser(tx, name)
      await replacePassword(tx, user.id, hash, { keep_tokens: options.keepTokens })
      return user
    })
    await app.audit.record({
      event: 'password.changed', address: '', details: { by: 'svc user password', user_id: id, username }
    })
    process.stdout.write(`The password of '${username}' was set; the user is signed out everywhere` +
      `${options.keepTokens === true ? '' : ', and client tokens were deleted'}.\n`)
  })
}
