import t from 'tap'
import { formerGameName, gameFolder, isDeletedMedia } from '../src/index.ts'

const FOLDERS = { cover: 'covers', video: 'videos', video_normalized: 'videos' }

t.test('a game has a folder if its path leads to a file in a folder of its name', async (t) => {
  t.equal(gameFolder({ path: 'Tide/Tide.m3u', fs_name: 'Tide' }), 'Tide')
  t.equal(gameFolder({ path: 'a/Tide/cd/1.bin', fs_name: 'cd' }), 'a/Tide/cd')
  for (const path of ['Tide', 'a/Tide', 'Tide.m3u', 'a/Tide.m3u']) t.equal(gameFolder({ path, fs_name: 'Tide' }), null, path)
})

t.test('a moved file has the name that the last export took from it', async (t) => {
  t.equal(formerGameName({ former_path: 'Hacks/Lantern Keeper (USA).nes' }), 'Lantern Keeper')
  t.equal(formerGameName({}), null)
})

t.test('a reference goes if the host published the file and deleted it', async (t) => {
  const game = { path: 'a/Tide.v1.sfc', media_files: ['covers/a/Tide.v1.png'] }
  for (const file of ['covers/a/Tide.v1.jpg', 'videos/a/Tide.v1.mp4', 'covers/a/Tide.v1.sfc.png']) {
    t.equal(isDeletedMedia(file, game, FOLDERS), true, file)
  }
  const others = ['covers/a/Tide.v1.png', 'mine/a/Tide.v1.jpg', 'covers/Tide.v1.jpg', 'covers/a/Tide.jpg', 'covers/a/Tide.v1',
    'a/Tide.v1.jpg', 'covers', 'Tide.v1.jpg', '']
  for (const file of others) t.equal(isDeletedMedia(file, game, FOLDERS), false, file)
  t.equal(isDeletedMedia('covers/a/Tide.v1.png', { path: game.path }, FOLDERS), true, 'without a list no file exists')
})
