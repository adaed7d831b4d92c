import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ElementHandle, Page } from 'puppeteer-core'
import t, { type Test } from 'tap'
import { type TestApp, buildTestApp } from '../support.ts'
import { type Journey, runJourney } from './browser.ts'

t.test('uploads go on after a reload, a sign-out and a lost response', async (t) => {
  const test = await buildTestApp(t, { worker: true })
  await mkdir(join(test.libraryDir, 'roms', 'snes'), { recursive: true })
  await runJourney(t, test, async (journey) => {
    await journey.signIn('admin', 'a password')
    await interruptUpload(t, test, journey)
    await uploadImpatiently(t, test, journey)
  })
})

/** Sends only the first chunk of a file until the returned function is called, so that its upload cannot end. */
async function holdChunks (page: Page): Promise<() => Promise<void>> {
  const devtools = await page.createCDPSession()
  let chunks = 0
  devtools.on('Fetch.requestPaused', ({ requestId, request: { method } }) => {
    if (method !== 'PUT' || chunks++ === 0) void devtools.send('Fetch.continueRequest', { requestId })
  })
  await devtools.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/roms/upload/*' }] })
  return () => devtools.detach()
}

/** The page is loaded again in the middle of an upload, which goes on with the same file. */
async function interruptUpload (t: Test, { libraryDir }: TestApp, { page, open, see }: Journey): Promise<void> {
  const file = join(t.testdirName, 'Large.sfc')
  const content = Buffer.alloc(5 * 1024 * 1024, 'a large game ')
  await writeFile(file, content)
  await open('upload')
  const choose = async () => {
    const input = await page.waitForSelector('input[type=file]:not([disabled])')
    await (input as ElementHandle<HTMLInputElement>).uploadFile(file)
  }
  const release = await holdChunks(page)
  await choose()
  await page.waitForFunction(() => Number(document.querySelector('progress')?.getAttribute('value')) > 0)
  let question = ''
  page.once('dialog', (dialog) => { question = dialog.type() })
  await page.reload()
  t.equal(question, 'beforeunload', 'the browser asks first')
  await see('choose the file again', '.row')
  await release()
  await choose()
  await see('is in the library', '.row')
  t.ok((await readFile(join(libraryDir, 'roms', 'snes', 'Large.sfc'))).equals(content))
}

/** Drops files of this machine on the page, as a person does with the mouse. */
async function dropOn (page: Page, files: readonly string[]): Promise<void> {
  const box = await (await page.waitForSelector('.file-drop:not([data-disabled])'))?.boundingBox()
  if (box == null) throw new Error('There is no place to drop files')
  const devtools = await page.createCDPSession()
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devtools.send('Input.dispatchDragEvent', {
      type, x: box.x + 40, y: box.y + 40, data: { items: [], files: [...files], dragOperationsMask: 1 }
    })
  }
  await devtools.detach()
}

/** A file is dropped twice, with an empty one and a folder; the session ends, and the last response is lost. */
async function uploadImpatiently (t: Test, { app, libraryDir, admin }: TestApp, journey: Journey): Promise<void> {
  const { page, open, see, signIn } = journey
  const [folder, empty, file] = ['A folder', 'Empty.sfc', 'Twice.sfc'].map((name) => join(t.testdirName, name)) as [string, string, string]
  await mkdir(folder, { recursive: true })
  await writeFile(empty, '')
  // At the speed below, all chunks but the first take ten seconds.
  const content = Buffer.alloc(24 * 1024 * 1024, 'dropped twice ')
  await writeFile(file, content)
  await open('upload')
  await page.waitForSelector('input[type=file]:not([disabled])')
  await page.emulateNetworkConditions({ upload: 2 * 1024 * 1024, download: -1, latency: 0 })
  await dropOn(page, [file, empty, folder])
  await see('Folders are not added: A folder.', '.toast')
  await dropOn(page, [file])
  await see('This file is empty', '.row')
  await page.waitForFunction(() => Number(document.querySelector('progress')?.getAttribute('value')) > 0)
  t.equal((await page.$$('.row')).length, 2, 'a file that is sent is not added again')
  await app.inject({ method: 'DELETE', url: '/api/sessions', headers: admin })
  await see('Your session ended')
  await page.emulateNetworkConditions(null)

  const devtools = await page.createCDPSession()
  let lost = 0
  devtools.on('Fetch.requestPaused', ({ requestId }) => {
    void (lost++ === 0
      ? devtools.send('Fetch.failRequest', { requestId, errorReason: 'ConnectionReset' })
      : devtools.send('Fetch.continueRequest', { requestId }))
  })
  await devtools.send('Fetch.enable', { patterns: [{ urlPattern: '*/complete', requestStage: 'Response' }] })
  await signIn('admin', 'a password')
  await see('is in the library', '.row')
  t.equal(lost, 2, 'the upload was completed twice')
  await devtools.detach()
  t.ok((await readFile(join(libraryDir, 'roms', 'snes', 'Twice.sfc'))).equals(content))

  // A double click hides one row.
  const hide = await page.waitForSelector('.upload-actions button')
  await hide?.click({ count: 2 })
  await page.waitForFunction(() => document.querySelectorAll('.row').length === 1)
}
