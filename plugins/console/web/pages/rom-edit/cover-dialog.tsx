import upload from 'lucide/dist/esm/icons/upload.mjs'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, isCancelled, toFailure } from '../../api/failure.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { providerName } from '../rom/provider-names.ts'
import { RemoteCover } from '../rom-match/remote-cover.tsx'
import { remotePicture } from '../rom-match/remote-picture.ts'
import { SearchFailure } from '../rom-match/search-failure.tsx'
import { type CoverChoice, toPicture } from './cover-choice.ts'
import { type CoverOption, searchCovers } from './cover-options.ts'

interface CoverDialogProps {
  romId: number
  name: string
  isOpen: boolean
  onClose: () => void
  onChoose: (cover: CoverChoice) => void
}

/** Takes a picture from a file, by drop or by paste. */
function PictureDrop ({ onChoose }: Pick<CoverDialogProps, 'onChoose'>) {
  const { cover: words } = texts().rom
  const [isWrong, setWrong] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const take = (file: File | null | undefined) => {
    const picture = toPicture(file)
    setWrong(picture === null)
    if (picture !== null) onChoose(picture)
  }
  useEffect(() => {
    const paste = ({ clipboardData }: ClipboardEvent) => {
      const file = [...(clipboardData?.files ?? [])].find(({ type }) => type.startsWith('image/'))
      if (file !== undefined) take(file)
    }
    document.addEventListener('paste', paste)
    return () => { document.removeEventListener('paste', paste) }
  }, [])
  return (
    <div
      class='file-drop cover-drop'
      onDragOver={(event) => { event.preventDefault() }}
      onDrop={(event) => {
        event.preventDefault()
        take(event.dataTransfer?.files[0])
      }}
    >
      <Icon node={upload} />
      <span>{words.drop}</span>
      <Button isSmall onClick={() => { input.current?.click() }}>{words.pick}</Button>
      <input
        ref={input}
        type='file'
        accept='image/*'
        hidden
        aria-label={words.upload}
        onChange={({ currentTarget }) => { take(currentTarget.files?.[0]) }}
      />
      {isWrong && <p class='field-error' role='alert'>{words.notPicture}</p>}
    </div>
  )
}

function Options ({ options, onChoose }: { options: readonly CoverOption[], onChoose: CoverDialogProps['onChoose'] }) {
  const { cover: words } = texts().rom
  return (
    <ul class='cover-options'>
      {options.map(({ url, thumb, name, provider, size }, index) => (
        <li key={url}>
          <button
            type='button'
            class='cover-option'
            onClick={() => { onChoose({ kind: 'url', url, preview: remotePicture(thumb) }) }}
          >
            <RemoteCover name={name} url={thumb} />
            <span class='visually-hidden'>{words.number(index + 1)}</span>
            <span class='game-name'>{provider === null ? name : providerName(provider)}</span>
            <span class='game-note'>{provider === null ? size : name}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The covers of all providers for a name. */
function CoverSearch ({ romId, name, onChoose }: Pick<CoverDialogProps, 'romId' | 'name' | 'onChoose'>) {
  const { cover: words } = texts().rom
  const [term, setTerm] = useState(name)
  const [asked, setAsked] = useState(name)
  const [options, setOptions] = useState<readonly CoverOption[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    setOptions(null)
    setFailure(null)
    searchCovers(romId, asked, controller.signal)
      .then(setOptions)
      .catch((err: unknown) => { if (!isCancelled(err)) setFailure(toFailure(err)) })
    return () => { controller.abort() }
  }, [asked])
  return (
    <>
      <form
        class='search-line'
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(term.trim())
        }}
      >
        <TextField label={words.search} type='search' value={term} onInput={setTerm} />
        <Button type='submit' isBusy={options === null && failure === null}>{words.searchSubmit}</Button>
      </form>
      <p class='visually-hidden' role='status'>{options !== null && words.count(options.length)}</p>
      {failure !== null && <SearchFailure failure={failure} />}
      {options === null && failure === null && (
        <ul class='cover-options' aria-hidden>
          {Array.from({ length: 8 }, (_, index) => (
            <li key={index}>
              <span class='cover skeleton' />
            </li>
          ))}
        </ul>
      )}
      {options?.length === 0 && <p class='soft'>{words.none}</p>}
      {options !== null && <Options options={options} onChoose={onChoose} />}
    </>
  )
}

function CoverUrl ({ onChoose }: Pick<CoverDialogProps, 'onChoose'>) {
  const { cover: words } = texts().rom
  const [url, setUrl] = useState('')
  return (
    <form
      class='search-line'
      onSubmit={(event) => {
        event.preventDefault()
        onChoose({ kind: 'url', url, preview: remotePicture(url) })
      }}
    >
      <TextField label={words.url} type='url' required value={url} placeholder='https://' onInput={setUrl} />
      <Button type='submit'>{words.use}</Button>
    </form>
  )
}

/** Chooses a cover: from all providers, a file, the clipboard or an address. */
export function CoverDialog ({ isOpen, onClose, onChoose, ...of }: CoverDialogProps) {
  const choose = (cover: CoverChoice) => {
    onChoose(cover)
    onClose()
  }
  return (
    <Dialog title={texts().rom.cover.choose} isOpen={isOpen} onClose={onClose} isLarge>
      <div class='stack'>
        <div class='cover-own'>
          <PictureDrop onChoose={choose} />
          <CoverUrl onChoose={choose} />
        </div>
        <CoverSearch {...of} onChoose={choose} />
      </div>
    </Dialog>
  )
}
