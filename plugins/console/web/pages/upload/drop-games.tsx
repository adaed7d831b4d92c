import fileIcon from 'lucide/dist/esm/icons/file.mjs'
import check from 'lucide/dist/esm/icons/circle-check.mjs'
import pause from 'lucide/dist/esm/icons/circle-pause.mjs'
import rotate from 'lucide/dist/esm/icons/rotate-cw.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import type { Platform } from '../../api/platforms.ts'
import { useResource } from '../../api/resource.ts'
import { holds } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { IconButton } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { FileDrop } from '../../ui/file-drop.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/state.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { guessPlatform } from './guess-platform.ts'
import { cancelUpload } from './send-file.ts'
import { listInterrupted } from './upload-memory.ts'
import { type Upload, addFiles, choosePlatform, removeUpload, retry, uploads } from './upload-queue.ts'

/** All platforms that games can have, also those without any game yet. */
const useSupportedPlatforms = () =>
  useResource('supported-platforms', (signal) => call(api.GET('/api/platforms/supported', { signal })))

function describe ({ state, sent, file, failure, platform }: Upload): string {
  const { upload } = texts()
  const { bytes, percent } = format()
  const name = platform?.display_name ?? ''
  if (state === 'failed') return failure?.message ?? upload.failed
  if (state === 'sending') return `${name} · ${percent(file.size === 0 ? 0 : sent / file.size)} · ${bytes(file.size)}`
  return [name, upload.states[state], bytes(file.size)].filter(Boolean).join(' · ')
}

/** A handler for single clicks. The second click of a double click would hit the next row, which moved up. */
const onceOf = (run: () => void) => ({ detail: clicks }: MouseEvent): void => { if (clicks <= 1) run() }

function UploadRow ({ upload }: { upload: Upload }) {
  const { upload: words } = texts()
  const { file, state, sent } = upload
  const isActive = ['sending', 'finishing', 'waiting'].includes(state)
  return (
    <li class='row'>
      <Icon node={state === 'done' ? check : fileIcon} />
      <div class='row-text'>
        <div class='row-title upload-name'>{file.name}</div>
        <p class={state === 'failed' ? 'row-problem' : 'faint'}>{describe(upload)}</p>
        {isActive && <progress class='progress' aria-label={file.name} max={file.size} value={sent} />}
      </div>
      <div class='row-actions upload-actions'>
        {state === 'failed' && (
          <IconButton isSmall icon={rotate} label={words.retryNamed(file.name)} onClick={() => { retry(upload) }} />
        )}
        <IconButton
          isSmall icon={x} label={state === 'done' ? words.forgetNamed(file.name) : words.cancelNamed(file.name)}
          onClick={onceOf(() => { removeUpload(upload) })}
        />
      </div>
    </li>
  )
}

/** Asks once for the platform of all files whose extension does not tell it. */
function PlatformChoice ({ waiting, platforms }: { waiting: readonly Upload[], platforms: readonly Platform[] }) {
  const { upload } = texts()
  return (
    <div class='card upload-choice'>
      <Combobox
        label={upload.platformOf(waiting.length)} hint={format().list(waiting.slice(0, 5).map(({ file }) => file.name))}
        value={null}
        options={platforms.map(({ fs_slug: slug, display_name: name }) => ({ value: slug, label: name, note: slug }))}
        onChange={(slug) => {
          const platform = platforms.find(({ fs_slug: one }) => one === slug)
          if (platform !== undefined) choosePlatform(waiting.map(({ id }) => id), platform)
        }}
      />
    </div>
  )
}

/** The uploads that ended with the page. A page cannot read a file again that nobody chose. */
function Interrupted () {
  const { upload } = texts()
  const [, setCancelled] = useState(0)
  const stored = listInterrupted(uploads.value.map(({ file, platform }) => ({ file, platform: platform?.fs_slug })))
  if (stored.length === 0) return null
  return (
    <ul class='card rows' aria-label={upload.interrupted}>
      {stored.map(({ file, platform }) => (
        <li key={`${file.name} ${platform}`} class='row'>
          <Icon node={pause} />
          <div class='row-text'>
            <div class='row-title upload-name'>{file.name}</div>
            <p class='faint'>{platform} · {upload.chooseAgain} · {format().bytes(file.size)}</p>
          </div>
          <div class='row-actions upload-actions'>
            <IconButton
              isSmall icon={x} label={upload.cancelNamed(file.name)}
              onClick={onceOf(() => {
                cancelUpload(file, platform).catch(tellFailure)
                setCancelled(Date.now())
              })}
            />
          </div>
        </li>
      ))}
    </ul>
  )
}

/** A place for dropped games, with the progress of each. */
export function DropGames () {
  const { upload } = texts()
  const { data: { value: platforms = [] } } = useSupportedPlatforms()
  if (!holds('roms.write')) return null
  const slugs = new Set(platforms.map(({ fs_slug: slug }) => slug))
  const list = uploads.value
  const waiting = list.filter(({ state }) => state === 'choose')
  const doneCount = list.filter(({ state }) => state === 'done').length
  return (
    <div class='stack'>
      <FileDrop
        label={upload.drop} isMultiple isDisabled={platforms.length === 0}
        onFolders={(names) => { tellFailure(new Error(upload.folders(format().list(names)))) }}
        onFiles={(files) => {
          addFiles(files, ({ name }) => {
            const slug = guessPlatform(name, slugs)
            return platforms.find(({ fs_slug: one }) => one === slug) ?? null
          }).catch(tellFailure)
        }}
      >
        <p class='faint'>{upload.dropHint}</p>
      </FileDrop>
      {waiting.length > 0 && <PlatformChoice waiting={waiting} platforms={platforms} />}
      <Interrupted />
      {list.length > 0 && <ul class='card rows'>{list.map((one) => <UploadRow key={one.id} upload={one} />)}</ul>}
      <div role='status'>{doneCount > 0 && <Notice>{upload.done(doneCount)}</Notice>}</div>
    </div>
  )
}
