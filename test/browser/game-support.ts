import type { Page } from 'puppeteer-core'
import type { Test } from 'tap'
import { DESKTOP, startBrowser, watch } from './browser.ts'
import { buildGameLibrary } from './game-library.ts'

/** Starts a server with games, and a browser with an administrator; `problems` are errors of its pages. */
export async function startGame (t: Test) {
  const browser = await startBrowser()
  const problems: string[] = []
  if (browser === null) {
    t.pass('no browser runs on this machine')
    process.exit(0)
  }
  t.teardown(() => browser.close())
  const library = await buildGameLibrary(t)
  const { app, admin, harbor, tales, addSave, createUser, scan, idOf } = library
  const url = await app.listen({ port: 0, host: '127.0.0.1' })

  async function signIn (name: string): Promise<Page> {
    const page = await (await browser?.createBrowserContext())?.newPage()
    if (page === undefined) throw new Error('The browser opened no page')
    await page.setViewport(DESKTOP)
    watch(page, url, problems)
    await page.goto(url)
    await page.locator('input[name=username]').fill(name)
    await page.locator('input[name=password]').fill('a password')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.shell')
    return page
  }

  const fill = async (page: Page, name: string, value: string) => {
    await page.locator(`::-p-aria([name="${name}"])`).fill(value)
  }
  const read = async (id: number) =>
    (await app.inject({ url: `/api/roms/${id}`, headers: admin })).json<{
      name: string
      path_cover_large: string
      vault_id: number | null
      rom_user: { rating: number }
      user_saves: { id: number; file_name: string; sha1: string; conflict_of: number | null }[]
    }>()

  const page = await signIn('admin')
  return { app, admin, harbor, tales, addSave, createUser, scan, idOf, url, signIn, fill, read, page, problems }
}
