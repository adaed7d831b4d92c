import left from 'lucide/dist/esm/icons/chevron-left.mjs'
import right from 'lucide/dist/esm/icons/chevron-right.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'
import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import { IconButton } from '../../ui/button.tsx'
import { pictureOf } from '../../ui/cover.tsx'
import { Section } from './section.tsx'
import type { DetailedRom } from './rom-data.ts'

/** The way in pixels that a finger moves to show the next picture. */
const SWIPE = 40

interface LightboxProps {
  pictures: readonly string[]
  shown: number
  onShow: (index: number) => void
  onClose: () => void
}

/** One picture in full size. Arrows and swipes show others; Escape closes, which gives the focus back. */
function Lightbox ({ pictures, shown, onShow, onClose }: LightboxProps) {
  const { common, rom: { media: words } } = texts()
  const dialog = useRef<HTMLDialogElement>(null)
  const touched = useRef<number | null>(null)
  useEffect(() => { dialog.current?.showModal() }, [])
  const move = (step: number) => { onShow((shown + step + pictures.length) % pictures.length) }
  const label = words.screenshot(shown + 1, pictures.length)
  return (
    <dialog
      ref={dialog}
      class='lightbox'
      aria-label={label}
      onClose={onClose}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') move(-1)
        else if (key === 'ArrowRight') move(1)
      }}
      onClick={({ target, currentTarget }) => { if (target === currentTarget) currentTarget.close() }}
      onTouchStart={({ touches }) => { touched.current = touches[0]?.clientX ?? null }}
      onTouchEnd={({ changedTouches }) => {
        const way = (changedTouches[0]?.clientX ?? 0) - (touched.current ?? 0)
        if (touched.current !== null && Math.abs(way) > SWIPE) move(way < 0 ? 1 : -1)
        touched.current = null
      }}
    >
      <img src={pictureOf(pictures[shown] ?? '')} alt={label} />
      <div class='lightbox-bar'>
        {pictures.length > 1 && <IconButton icon={left} label={words.previous} onClick={() => { move(-1) }} />}
        <span class='number' aria-live='polite'>{shown + 1} / {pictures.length}</span>
        {pictures.length > 1 && <IconButton icon={right} label={words.next} onClick={() => { move(1) }} />}
      </div>
      <div class='lightbox-close'>
        <IconButton icon={x} label={common.close} onClick={() => { dialog.current?.close() }} />
      </div>
    </dialog>
  )
}

/** The screenshots of a game: those of providers, then those of people. */
export function Screenshots ({ rom }: { rom: DetailedRom }) {
  const { media: words } = texts().rom
  const [shown, setShown] = useState<number | null>(null)
  const own = rom.user_screenshots.filter(
    ({ missing_from_fs: isMissing, is_gallery: isGallery }) => isGallery && !isMissing
  )
  const pictures = [...rom.merged_screenshots, ...own.map(({ download_path: path }) => path)]
  if (pictures.length === 0) return null
  return (
    <Section title={words.screenshots}>
      <div class='rom-shots'>
        {pictures.map((path, index) => (
          <button
            key={path}
            type='button'
            class='rom-shot'
            aria-label={words.open(index + 1)}
            onClick={() => { setShown(index) }}
          >
            <img src={pictureOf(path)} alt='' loading='lazy' decoding='async' />
          </button>
        ))}
      </div>
      {shown !== null && (
        <Lightbox pictures={pictures} shown={shown} onShow={setShown} onClose={() => { setShown(null) }} />
      )}
    </Section>
  )
}
