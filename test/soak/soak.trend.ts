/** The slope of the line of least squares through points, in units of y for one of x; 0 for fewer than two points. */
export function slopeOf(points: readonly { x: number; y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const together = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  return spread > 0 ? together / spread : 0;
}
