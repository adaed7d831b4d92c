import pause from 'lucide/dist/esm/icons/pause.mjs'
import play from 'lucide/dist/esm/icons/play.mjs'
import { useRef, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { addressOf } from '../../base.ts'
import { texts } from '../../i18n/language.ts'
import { IconButton } from '../../ui/button.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { Section } from './section.tsx'
import type { DetailedRom } from './rom-data.ts'

/** The height of a row of the list. */
const TRACK_REM = 2.5
const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

/** The music of a game, one track after the other. */
export function Soundtrack ({ rom }: { rom: DetailedRom }) {
  const { media: words } = texts().rom
  const audio = useRef<HTMLAudioElement>(null)
  const [playing, setPlaying] = useState<number | null>(null)
  const [isPaused, setPaused] = useState(true)
  const tracks = useResource(
    `tracks ${rom.id}`,
    (signal) => call(api.GET('/api/roms/{id}/soundtracks/metadata', { params: { path: { id: rom.id } }, signal })),
    { 'scan:done': true }
  )

  function start (fileId: number, name: string): void {
    const { current: player } = audio
    if (player === null) return
    if (playing === fileId && !player.paused) return player.pause()
    if (playing !== fileId) player.src = addressOf(`api/roms/${fileId}/files/content/${encodeURIComponent(name)}`)
    setPlaying(fileId)
    player.play().catch(tellFailure)
  }
  const next = () => {
    const { value: list = [] } = tracks.data
    const track = list[list.findIndex(({ file_id: id }) => id === playing) + 1]
    if (track !== undefined) start(track.file_id, track.file_name)
  }
  return (
    <Section title={words.soundtrack}>
      <Loaded resource={tracks} skeleton={<Skeleton height={`min(24rem, ${rom.files.filter(({ category }) => category === 'soundtrack').length * TRACK_REM}rem)`} />}>
        {(list) => (
          <ol class='rom-tracks'>
            {list.map(({ file_id: id, file_name: file, track_meta: tags }) => {
              const title = tags?.title || file
              const isOn = playing === id && !isPaused
              return (
                <li key={id} data-on={playing === id ? '' : undefined}>
                  <IconButton
                    isSmall
                    icon={isOn ? pause : play}
                    label={isOn ? words.pause(title) : words.play(title)}
                    onClick={() => { start(id, file) }}
                  />
                  <span class='rom-row-text'>
                    <strong>{title}</strong>
                    {tags?.artist && <span class='faint'>{tags.artist}</span>}
                  </span>
                  {tags?.duration_seconds != null && <span class='faint number'>{clock(tags.duration_seconds)}</span>}
                </li>
              )
            })}
          </ol>
        )}
      </Loaded>
      <audio
        ref={audio}
        class='rom-audio'
        controls
        hidden={playing === null}
        aria-label={words.soundtrack}
        onPlay={() => { setPaused(false) }}
        onPause={() => { setPaused(true) }}
        onEnded={next}
      />
    </Section>
  )
}
