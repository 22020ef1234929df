# A small image with `chrysalis` and nothing else:
#   docker build -t chrysalis .
#   docker run --rm -v "$PWD:/data" chrysalis publish patients.csv --quasi age,sex --require k=10 --out release
FROM rust:1.95-slim AS build
WORKDIR /src
COPY . .
# SQLite and zstd are compiled from C.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev \
    && cargo build --locked --profile dist -p chrysalis-cli --features databases

FROM debian:stable-slim
COPY --from=build /src/target/dist/chrysalis /usr/local/bin/chrysalis
# What is published belongs to whoever runs the image, not to root.
USER 1000:1000
WORKDIR /data
ENTRYPOINT ["chrysalis"]
