import { useMemo } from 'preact/hooks'
import { encode } from 'uqr'

interface QrProps {
  /** The text that a camera reads. */
  text: string
  /** Says what the code holds. */
  label: string
}

/** Returns the outline of all dark squares of a code. */
function drawModules (rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => row.flatMap((isDark, x) => isDark ? [`M${x} ${y}h1v1h-1z`] : [])).join('')
}

/** A QR code, dark on white in every appearance, because cameras read nothing else reliably. */
export function Qr ({ text, label }: QrProps) {
  const { data, size } = useMemo(() => encode(text, { border: 2 }), [text])
  return (
    <svg class='qr' viewBox={`0 0 ${size} ${size}`} role='img' aria-label={label} shape-rendering='crispEdges'>
      <rect width={size} height={size} />
      <path d={drawModules(data)} />
    </svg>
  )
}
