package transcript

import (
	"path/filepath"
	"strings"
)

// openQwen opens chats/SESSION.jsonl, and what stands in subagents/SESSION beside that folder.
func openQwen(path string, at readPosition) (source, error) {
	src, err := openFile(path, decoders[Qwen], at)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(filepath.Dir(filepath.Dir(path)), "subagents", strings.TrimSuffix(filepath.Base(path), ".jsonl"))
	return newFamily(src, &describedHelpers{folder: folder, open: openQwenHelper}, at), nil
}

func openQwenHelper(path string, at readPosition) (source, error) {
	src, err := openFile(path, decoders[Qwen], at)
	if err != nil {
		return nil, err
	}
	return &answersAlone{src}, nil
}
