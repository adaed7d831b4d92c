import { chmod, lstat, mkdir, readFile, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import type { PluginPackage } from '../../../core/loader/packages/packages.ts'
import { describeWriteError } from '../../../plugins/exports/files/fs-reason.ts'
import { createTestDatabase, overTcp } from '../../support.ts'
import { asOtherUser, makeReachableFolder } from '../library/other-user.ts'
import { buildExportApp, createPicture, shareExportApp } from './library.ts'

const fresh = shareExportApp(t)

const png = await createPicture('png')
const jpg = await createPicture('jpeg')
const webp = await createPicture('webp')
const transparentWebp = await createPicture('webp', 10, 0.5)

t.test('media are hard links to the server\'s own files, one for both exports', async (t) => {
  const { addPlatform, addRom, addResource, call, snes, config } = await fresh(t)
  await addRom(await addPlatform('snes'), {
    fs_name: 'Alpha.sfc',
    path_cover_large: await addResource('roms/1/1/cover/big.png', png),
    path_screenshots: [await addResource('roms/1/1/screenshots/0.jpg', jpg), 'roms/1/1/screenshots/1.jpg'],
    path_manual: await addResource('roms/1/1/manual/1.pdf', '%PDF-1.4'),
    media: {
      logo: { url: 'https://x.example/l', path: await addResource('roms/1/1/logo/logo.png', png) },
      marquee: { url: 'https://x.example/m', path: await addResource('roms/1/1/marquee/marquee.png', jpg) },
      video: { url: 'https://x.example/v', path: null },
      video_normalized: { url: 'https://x.example/n', path: await addResource('roms/1/1/video/video.mp4', 'film') }
    }
  })
  const { body } = await call('gamelist-xml')
  t.match(body.files[0], { media_files: 5, media_errors: [] })
  const gamelist = await readFile(snes('gamelist.xml'), 'utf8')
  for (const element of [
    '<thumbnail>./covers/Alpha.png</thumbnail>', '<image>./screenshots/Alpha.jpg</image>',
    '<marquee>./marquees/Alpha.png</marquee>', '<video>./videos/Alpha.mp4</video>', '<manual>./manuals/Alpha.pdf</manual>'
  ]) t.ok(gamelist.includes(element), element)

  const cover = await stat(snes('covers', 'Alpha.png'))
  t.equal(cover.ino, (await stat(`${config.data_dir}/resources/roms/1/1/cover/big.png`)).ino)
  t.equal(cover.nlink, 2)
  await call('pegasus')
  t.match(await readFile(snes('metadata.pegasus.txt'), 'utf8'), 'assets.box_front: ./covers/Alpha.png\n')
  t.equal((await stat(snes('covers', 'Alpha.png'))).nlink, 2)
  t.same((await readdir(snes())).sort(), [
    'covers', 'gamelist.xml', 'manuals', 'marquees', 'metadata.pegasus.txt', 'screenshots', 'videos'
  ])
})

t.test('pictures become PNG or JPEG by their content, and other files are reported', async (t) => {
  const { addPlatform, addRom, addResource, call, snes } = await fresh(t)
  const id = await addPlatform('snes')
  const pictures: [string, Buffer | string][] = [
    ['a.webp', webp], ['b.webp', transparentWebp], ['c.gif', await createPicture('gif')],
    ['d.avif', await createPicture('avif')], ['e.png', webp], ['f.png', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['g.webp', webp.subarray(0, 40)]
  ]
  for (const [name, bytes] of pictures) {
    await addRom(id, { fs_name: `${name[0]}.sfc`, path_cover_large: await addResource(`roms/1/${name}`, bytes) })
  }
  await addRom(id, { fs_name: 'h.sfc', path_cover_large: 'roms/1/lost.png' })
  await addRom(id, { fs_name: 'i.sfc', path_cover_large: '../../library/roms/snes/secret.png' })
  const { body } = await call('gamelist-xml')
  const names = (await readdir(snes('covers'))).sort()
  t.same(names.filter((name) => !name.startsWith('c.')), ['a.jpg', 'b.png', 'd.jpg', 'e.jpg'])
  t.equal((await sharp(snes('covers', 'a.jpg')).metadata()).format, 'jpeg')
  t.equal((await sharp(snes('covers', 'b.png')).metadata()).hasAlpha, true)
  t.equal(body.files[0].media_files, 5)
  t.same(body.files[0].media_errors.map(({ path }: { path: string }) => path).sort(),
    ['covers/f', 'covers/g', 'covers/h', 'covers/i'])
  const reasons = Object.fromEntries(body.files[0].media_errors.map(
    ({ path, reason }: { path: string, reason: string }) => [path, reason]))
  t.match(reasons['covers/f'], /is not a picture/)
  t.match(reasons['covers/h'], /"roms\/1\/lost\.png" of the server is missing/)
  t.match(reasons['covers/i'], /is refused/)
})

t.test('a new cover replaces only a cover that the server wrote', async (t) => {
  const { addPlatform, addRom, addResource, call, snes, config } = await fresh(t)
  const id = await addPlatform('snes')
  const linked = await addResource('roms/1/linked.png', png)
  const converted = await addResource('roms/1/converted.webp', webp)
  await addRom(id, { fs_name: 'Linked.sfc', path_cover_large: linked })
  await addRom(id, { fs_name: 'Converted.sfc', path_cover_large: converted })
  await addRom(id, { fs_name: 'Own.sfc', path_cover_large: linked })
  await addRom(id, { fs_name: 'Edited.sfc', path_cover_large: converted })
  await mkdir(snes('covers'))
  await writeFile(snes('covers', 'Own.jpg'), 'the owner\'s')
  await call('gamelist-xml')
  t.match(await readFile(snes('gamelist.xml'), 'utf8'), '<thumbnail>./covers/Own.jpg</thumbnail>')
  t.same((await readdir(snes('covers'))).sort(), ['Converted.jpg', 'Edited.jpg', 'Linked.png', 'Own.jpg'])
  await writeFile(snes('covers', 'Edited.jpg'), 'edited by the owner')

  // Replaces a resource like the artwork download: by a rename.
  const replace = async (path: string, bytes: Buffer) => {
    await writeFile(`${config.data_dir}/resources/${path}.part`, bytes)
    await rename(`${config.data_dir}/resources/${path}.part`, `${config.data_dir}/resources/${path}`)
  }
  await replace(linked, await createPicture('png', 7))
  await replace(converted, transparentWebp)
  await call('gamelist-xml')
  t.same(await readFile(snes('covers', 'Linked.png')), await createPicture('png', 7))
  t.same((await readdir(snes('covers'))).sort(), ['Converted.png', 'Edited.jpg', 'Linked.png', 'Own.jpg'])
  t.match(await readFile(snes('gamelist.xml'), 'utf8'), '<thumbnail>./covers/Converted.png</thumbnail>')
  t.equal(await readFile(snes('covers', 'Own.jpg'), 'utf8'), 'the owner\'s')
  t.equal(await readFile(snes('covers', 'Edited.jpg'), 'utf8'), 'edited by the owner')
})

t.test('a picture that the user put beside the ROMs keeps its reference', async (t) => {
  const { addPlatform, addRom, addResource, call, snes, config } = await fresh(t)
  const id = await addPlatform('snes')
  await addRom(id, { fs_name: 'Own.sfc' })
  await addRom(id, { fs_name: 'Lost.sfc', path_cover_large: await addResource('roms/1/lost.png', png) })
  await mkdir(snes('videos'))
  await writeFile(snes('videos', 'Own.mp4'), 'the owner\'s')
  await writeFile(snes('gamelist.xml'), '<gameList><game><path>./Own.sfc</path><video>./videos/Own.mp4</video></game>' +
    '<game><path>./Lost.sfc</path><image>./covers/Lost.png</image></game></gameList>')
  await writeFile(snes('metadata.pegasus.txt'), 'game: Own\nfile: Own.sfc\nassets.video: videos/Own.mp4\n')
  for (const route of ['gamelist-xml', 'pegasus']) t.equal((await call(route)).status, 200)
  await rm(`${config.data_dir}/resources/roms/1/lost.png`)
  for (const route of ['gamelist-xml', 'pegasus']) t.equal((await call(route)).status, 200)
  const gamelist = await readFile(snes('gamelist.xml'), 'utf8')
  t.match(gamelist, '<video>./videos/Own.mp4</video>')
  for (const name of ['image', 'thumbnail']) t.match(gamelist, `<${name}>./covers/Lost.png</${name}>`)
  t.match(await readFile(snes('metadata.pegasus.txt'), 'utf8'), 'assets.video: videos/Own.mp4\n')
})

t.test('media that no game has any more are deleted, unless someone changed them', async (t) => {
  const { app, addPlatform, addRom, addResource, call, snes } = await fresh(t)
  const id = await addPlatform('snes')
  const cover = async (name: string, bytes = png) => ({ path_cover_large: await addResource(`roms/1/${name}`, bytes) })
  const removed = await addRom(id, { fs_name: 'Removed.sfc', ...await cover('a.png') })
  const renamed = await addRom(id, { fs_name: 'Before.sfc', ...await cover('b.webp', webp) })
  const deleted = await addRom(id, { fs_name: 'Deleted', is_folder: true, ...await cover('c.png') })
  const edited = await addRom(id, { fs_name: 'Edited.sfc', ...await cover('d.webp', webp) })
  for (const route of ['gamelist-xml', 'pegasus']) await call(route)
  t.same((await readdir(snes('covers'))).sort(), ['Before.jpg', 'Deleted.png', 'Edited.jpg', 'Removed.png'])
  await writeFile(snes('covers', 'Edited.jpg'), 'edited by the owner')
  await writeFile(snes('covers', 'Mine.png'), 'the owner\'s')
  await app.db.query('update roms set path_cover_large = null where id = any($1)', [[removed, edited]])
  await app.db.query("update roms set fs_name = 'After.sfc' where id = $1", [renamed])
  await app.db.query('delete from roms where id = $1', [deleted])

  for (const route of ['gamelist-xml', 'pegasus']) t.same((await call(route)).body.files[0].media_errors, [])
  t.same((await readdir(snes('covers'))).sort(), ['After.jpg', 'Edited.jpg', 'Mine.png'])
  const gamelist = await readFile(snes('gamelist.xml'), 'utf8')
  const pegasus = await readFile(snes('metadata.pegasus.txt'), 'utf8')
  for (const text of [gamelist, pegasus]) {
    t.notMatch(text, 'covers/Removed')
    t.match(text, 'covers/Edited.jpg')
  }
})

t.test('two ROMs that differ only in their extension share the first one\'s cover', async (t) => {
  const { addPlatform, addRom, addResource, call, snes } = await fresh(t)
  const id = await addPlatform('snes')
  await addRom(id, { fs_name: 'Alpha.bin', path_cover_large: await addResource('roms/1/lost.png', '') })
  await addRom(id, { fs_name: 'Alpha.sfc', path_cover_large: await addResource('roms/1/a.png', png) })
  await addRom(id, { fs_name: 'Alpha.smc', path_cover_large: await addResource('roms/1/b.jpg', jpg) })
  for (const written of [true, false]) {
    const { body } = await call('gamelist-xml')
    t.equal(body.files[0].written, written)
    t.same(await readdir(snes('covers')), ['Alpha.png'])
  }
})

t.test('a media folder that leads out of the library is refused and not written', async (t) => {
  const { addPlatform, addRom, addResource, call, snes, config } = await fresh(t)
  await addRom(await addPlatform('snes'), {
    fs_name: 'Alpha.sfc',
    path_cover_large: await addResource('roms/1/cover.png', png),
    path_screenshots: [await addResource('roms/1/shot.png', png)]
  })
  const outside = `${config.data_dir}/outside`
  await mkdir(outside)
  await symlink(outside, snes('covers'))
  await writeFile(snes('screenshots'), 'a file in the way')
  const { body } = await call('gamelist-xml')
  t.equal(body.files[0].written, true)
  t.match(body.files[0].media_errors, [{ path: 'covers', reason: /symbolic link leads out/ }, { path: 'screenshots' }])
  t.same(await readdir(outside), [])

  await rm(snes('gamelist.xml'))
  await writeFile(`${outside}/secret`, 'secret')
  await symlink(`${outside}/secret`, snes('gamelist.xml'))
  await symlink(`${outside}/nothing`, snes('metadata.pegasus.txt'))
  for (const route of ['gamelist-xml', 'pegasus']) {
    const refused = await call(route)
    t.equal(refused.status, 500)
    t.match(refused.body.detail, /is refused/)
  }
  t.same(await readdir(outside), ['secret'])
  t.equal(await readFile(`${outside}/secret`, 'utf8'), 'secret')
  t.ok((await lstat(snes('gamelist.xml'))).isSymbolicLink())
})

t.test('a link to a file of the same platform is followed', async (t) => {
  const { addPlatform, addRom, call, snes } = await fresh(t)
  await addRom(await addPlatform('snes'), { fs_name: 'Alpha.sfc' })
  await writeFile(snes('lists.xml'), '<gameList></gameList>')
  await symlink('lists.xml', snes('gamelist.xml'))
  t.equal((await call('gamelist-xml')).status, 200)
  t.match(await readFile(snes('lists.xml'), 'utf8'), './Alpha.sfc')
  t.ok((await lstat(snes('gamelist.xml'))).isSymbolicLink())
})

t.test('a folder that is not writable is reported with the remedy', async (t) => {
  const folder = await makeReachableFolder(t, { data: {}, library: { roms: { snes: {} } } })
  const { addPlatform, addRom, addResource, worker, snes } = await buildExportApp(t, {
    databaseUrl: overTcp(await createTestDatabase(t)),
    env: { SVC_DATA_DIR: join(folder, 'data'), SVC_LIBRARY_DIR: join(folder, 'library') }
  })
  const id = await addPlatform('snes')
  await addRom(id, { fs_name: 'Alpha.sfc', path_cover_large: await addResource('roms/1/cover.png', png) })
  await mkdir(snes('covers'))
  const run = () => worker.exports.exportPlatforms({ platformIds: [id], signal: new AbortController().signal })
  await asOtherUser(t, snes(), async () => {
    const { files, errors } = await run()
    t.same(files, [])
    t.match(errors, [{ path: snes('gamelist.xml'), reason: /permission/ }, { path: snes('metadata.pegasus.txt') }])
  })
  await chmod(snes(), 0o555)
  await asOtherUser(t, snes('covers'), async () => {
    const { errors } = await run()
    t.match(errors[0]?.reason, `No permission to write in the folder ${JSON.stringify(snes())}. Give the server's user the right`)
  })
  await chmod(snes(), 0o777)
  await asOtherUser(t, snes('covers'), async () => {
    const { files, errors } = await run()
    t.same(errors, [], 'the text needs no media')
    t.match(files[0], { written: true, media_files: 0, media_errors: [{ path: 'covers', reason: /No permission/ }] })
  })
})

t.test('every error of a disk is reported with its remedy', async (t) => {
  for (const [code, remedy] of [
    ['EROFS', /read-only.*Mount/], ['EACCES', /permission.*Give/], ['ENOSPC', /full.*Free/], ['EDQUOT', /quota.*Free/],
    ['ENAMETOOLONG', /too long.*Shorten/], ['ENOTDIR', /not a folder.*Rename/]
  ] as const) {
    t.match(describeWriteError(Object.assign(new Error(code), { code }), '/library/roms/snes'), remedy)
  }
  t.equal(describeWriteError(new Error('a\0b\ud800'), '/library'), 'ab\ufffd')
})

const COMMUNITY = {
  csv: `fileName: 'games.csv', media: { cover: 'art/front', screenshot: 'art/shots' },
    render: async (platform, games, existing, ctx) => ({
      text: games.map(({ path, media }) => [path, media.cover, media.manual, ctx.preferences.languages[0]].join()).join(),
      skipped: [{ rom_id: 1, reason: 'just so' }]
    })`,
  nothing: "fileName: 'e.txt', media: {}, render: async () => { throw undefined }",
  thrower: "fileName: 'a.txt', media: {}, render: async () => { throw new Error('not today') }",
  liar: "fileName: 'b.txt', media: {}, render: async () => 'text'",
  escaper: "fileName: '../c.txt', media: {}, render: async () => ({ text: '', skipped: [] })",
  copycat: "fileName: 'd.txt', route: 'csv', media: {}, render: async () => ({ text: '', skipped: [] })"
}

/** Installs exporters as community plugins. */
function installCommunity (t: Test): PluginPackage[] {
  const folder = t.testdir(Object.fromEntries(Object.entries(COMMUNITY).map(([key, fields]) => [`${key}.mjs`,
    `import { defineExporter } from '@svc/plugin-sdk'
    export default defineExporter({ key: '${key}', name: '${key}', ${fields} })`])))
  return Object.keys(COMMUNITY).map((key) => ({
    folder,
    name: `svc-exporter-${key}`,
    version: '1.0.0',
    manifest: { kind: 'exporter', key, sdk: '^2' },
    entry: `${folder}/${key}.mjs`,
    origin: 'community',
    problem: null
  }))
}

t.test('exporters of the community', async (t) => {
  const packages = installCommunity(t)
  await t.test('write their own files and folders, and fail without affecting others', async (t) => {
    const { addPlatform, addRom, addResource, call, worker, snes } = await buildExportApp(t, { packages })
    const id = await addPlatform('snes')
    await addRom(id, { fs_name: 'Alpha.sfc', path_cover_large: await addResource('roms/1/cover.png', png) })

    const { body } = await call('csv')
    t.match(body, {
      files: [{ path: snes('games.csv'), games: 0, skipped: [{ rom_id: 1, reason: 'just so' }] }], errors: []
    })
    t.equal(await readFile(snes('games.csv'), 'utf8'), 'Alpha.sfc,art/front/Alpha.png,,en')
    const { files, errors } = await worker.exports.exportPlatforms({
      platformIds: [id], signal: new AbortController().signal
    })
    t.same(files.map(({ exporter }) => exporter), ['csv'])
    const failure = (key: string, reason: string) =>
      ({ exporter: key, reason: `The exporter '${key}' failed: ${reason}. Update the plugin, or remove it.` })
    t.match(errors, [
      failure('nothing', 'it threw undefined, which is no error'), failure('thrower', 'not today'),
      { exporter: 'liar', reason: /did not return/ }
    ])
    for (const refused of ['escaper', 'copycat']) t.equal((await call(refused)).status, 404)
    t.same((await readdir(snes())).sort(), ['art', 'games.csv'])
  })
})
